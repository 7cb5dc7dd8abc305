"""Ways through the store that few programs take: stored forms made elsewhere, pieces read twice, joined changes."""

from __future__ import annotations

import errno
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from harness import atomic
from harness.atomic import writer_lock
from harness.capture.npy import NpyFile
from harness.errors import StoreError
from harness.records import Record, Streamed
from harness.stats import describe, digest
from harness.store import GoldenStore, RunData, Transaction, accept, journal, manifest, seal, transaction, update
from harness.store.h5file import _Sink
from harness.store.layout import contents
from harness.store.layout.objects import Stored, to_stored
from harness.store.layout.schema import FOLDER, Compression
from harness.store.manifest import RunKey
from harness.store.prepared import Prepared
from harness.store.writer import StoreWriter
from tests.store.helpers import ASCEND, CPU, edit_index, network, plain, record, run_data

Array = np.ndarray[Any, np.dtype[Any]]


class Elsewhere(Prepared):
    """Values whose stored form another process made, or did not make (``made`` is None)."""

    def __init__(self, array: Array, made: str | None) -> None:
        self.array, self.made = array, made

    def __call__(self) -> Array:
        return self.array

    def stored(self, compression: Compression) -> Stored | None:
        name = {"float32": "Float32"}[str(self.array.dtype)]
        return to_stored(self.array, name, compression) if self.made == compression else None


class Once(Streamed):
    """Values whose pieces come once; asked again they come in blocks, or whole."""

    def __init__(self, array: Array, again: str, changed: Array | None = None) -> None:
        self.array, self.again, self.changed, self.asked = array, again, changed, 0

    def __call__(self) -> Array:
        return self.array if self.changed is None else self.changed

    def pieces(self) -> Iterator[Array] | None:
        self.asked += 1
        if self.asked > 1 and self.again != "pieces":
            return None
        flat = (self.array if self.asked == 1 or self.changed is None else self.changed).reshape(-1)
        return iter([flat[:7].copy(), flat[7:].copy()])

    def blocks(self, size: int, start: int = 0) -> Iterator[Array] | None:
        assert size > 0
        flat = self().reshape(-1)
        return iter([flat[start:]]) if self.again == "blocks" else None


def described(each: Record) -> Record:
    """A record of which whoever made it knows digest and statistics."""
    array = each.load()
    assert array is not None
    known = replace(each.extra, described=describe(array, each.dtype))
    return replace(each, digest=digest(array, each.dtype), extra=known)


@pytest.mark.parametrize("compression", ["none", "gzip"])
@pytest.mark.parametrize("made", ["none", "gzip", None], ids=["made-plain", "made-packed", "not-made"])
def test_a_form_made_elsewhere_makes_the_same_file(tmp_path: Path, compression: Compression, made: str | None) -> None:
    records = [described(each) for each in network(3)]
    given = [replace(each, values=Elsewhere(each.values, made)) for each in records]  # type: ignore[arg-type]
    update(tmp_path / "plain.h5", "net", {CPU: RunData(records)}, compression=compression)
    update(tmp_path / "given.h5", "net", {CPU: RunData(given)}, compression=compression)
    assert (tmp_path / "given.h5").read_bytes() == (tmp_path / "plain.h5").read_bytes()
    # What the old file holds keeps its form.
    more = [*given, record(np.float32([3]), "Default/new-op9")]
    assert update(tmp_path / "given.h5", "net", {CPU: RunData(more)}, compression=compression).changed
    with GoldenStore.open(tmp_path / "given.h5") as store:
        assert list(plain(store.run(*CPU).records())) == list(plain(more))
        assert store.verify() == []


def test_of_a_level_of_digests_no_form_is_asked_for(tmp_path: Path) -> None:
    class Never(Elsewhere):
        """Nobody may ask for it."""

        def __call__(self) -> Array:
            raise AssertionError

        stored = __call__  # type: ignore[assignment]

    records = [described(each) for each in network(3)]
    given = [replace(each, values=Never(each.values, "none")) for each in records]  # type: ignore[arg-type]
    update(tmp_path / "a.h5", "net", {CPU: RunData(given, level="digest")})
    update(tmp_path / "b.h5", "net", {CPU: RunData(records, level="digest")})
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()


@pytest.mark.parametrize("again", ["pieces", "blocks", "whole"])
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16], ids=["float32", "bfloat16"])
def test_pieces_are_read_twice_where_they_are_new(tmp_path: Path, dtype: Any, again: str) -> None:
    array = np.random.default_rng(5).standard_normal((4, 5)).astype(dtype)
    same = np.full((64, 64), 2.5).astype(dtype)  # is stored packed, whatever the store does with others
    plain_ones = [record(array), record(array, "Default/b-op0"), record(same, "Default/c-op0")]
    given = [replace(each, values=Once(each.values, again)) for each in plain_ones]  # type: ignore[arg-type]
    update(tmp_path / "a.h5", "net", {CPU: RunData(plain_ones)}, compression="none")
    update(tmp_path / "b.h5", "net", {CPU: RunData(given)}, compression="none")
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()


@pytest.mark.parametrize("again", ["pieces", "blocks", "whole"])
def test_values_that_change_between_two_readings_are_not_kept(tmp_path: Path, again: str) -> None:
    array = np.arange(20, dtype=np.float32).reshape(4, 5)
    one = replace(record(array), values=Once(array, again, array[::-1]))
    with pytest.raises(StoreError, match="its values changed while they were read"):
        update(tmp_path / "a.h5", "net", {CPU: RunData([one])}, compression="none")
    assert list(tmp_path.iterdir()) == []


def test_pieces_of_another_length_are_refused(tmp_path: Path) -> None:
    array = np.arange(20, dtype=np.float32)
    one = replace(record(array), values=Once(array[:19], "pieces"))
    with pytest.raises(StoreError, match=r"should have shape \[20\], but has 19 elements"):
        update(tmp_path / "a.h5", "net", {CPU: RunData([one])}, compression="none")


def test_a_name_that_no_attribute_holds_leaves_no_open_file(tmp_path: Path) -> None:
    before = _opened()
    with pytest.raises(StoreError, match="the attribute 'network' would take 70000 bytes"):
        StoreWriter(tmp_path / "a.h5", "n" * 70_000, "none", None).__enter__()
    assert _opened() == before


def _opened() -> int:
    return len(os.listdir("/dev/fd"))


def test_no_file_stays_open_whether_a_store_was_written_or_not(tmp_path: Path) -> None:
    update(tmp_path / "x.h5", "net", {CPU: run_data()})
    before = _opened()
    update(tmp_path / "x.h5", "net", {CPU: run_data(2)})
    assert _opened() == before
    odd = replace(record(np.arange(20, dtype=np.float32)), shape=(19,))
    with pytest.raises(StoreError, match="should have shape"):
        update(tmp_path / "x.h5", "net", {CPU: RunData([odd])})
    assert _opened() == before


def test_what_libhdf5_reads_back_is_what_was_written_and_zeros_behind_it(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path / "a", os.O_RDWR | os.O_CREAT)
    try:
        sink = _Sink(descriptor)
        sink.put(b"abcdef", 3)
        buffer = bytearray(b"??????????")
        sink.seek(1)
        assert sink.readinto(buffer) == len(buffer)
        assert buffer == b"\0\0abcdef\0\0"
        assert sink.readinto(buffer) == len(buffer)
        assert buffer == bytes(10)
        sink.truncate(5)
        assert (tmp_path / "a").read_bytes() == b"\0\0\0ab"
        assert sink.seek(0, 2) == 5
        sink.error = OSError()  # after an error the file is left as it is
        sink.truncate(2)
        sink.put(b"xy", 0)
        assert (tmp_path / "a").read_bytes() == b"\0\0\0ab"
    finally:
        os.close(descriptor)


def test_a_run_without_operators_says_nothing_of_them(tmp_path: Path) -> None:
    """Its contents are the bytes that earlier versions wrote."""
    from tests.fuzz import repaired

    update(tmp_path / "a.h5", "net", {CPU: RunData(network()), ASCEND: run_data(level="digest")})
    runs = json.loads(repaired.contents_of((tmp_path / "a.h5").read_bytes()))["runs"]
    told = {"level", "checksum", "attrs", "index", "names", "artefacts"}
    assert set(runs["cpu/tensor"]) == told
    assert set(runs["ascend-o0/statistic"]) == told | {"tables", "identity"}


def test_a_store_that_is_cut_off_while_it_is_open_gives_no_parts_to_copy(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    update(path, "net", {CPU: run_data()})
    with GoldenStore.open(path) as store:
        run = store.run(*CPU)
        assert run.stored_parts() != {}
        os.truncate(path, contents.USER_BLOCK)
        assert run.stored_parts() == {}


def test_an_old_run_whose_checksum_cannot_be_told_is_not_the_same(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    update(path, "net", {CPU: run_data()})
    whole = path.read_bytes()
    edit_index(path, 0, "shape", 2**31 - 1)
    update(path, "net", {CPU: run_data()})
    assert path.read_bytes() == whole


def test_texts_that_are_too_large_to_be_kept_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.h5"
    update(path, "net", {CPU: run_data()})
    with GoldenStore.open(path) as store:
        kept = store.run(*CPU).artefacts()
    monkeypatch.setattr(contents, "_TEXTS", 30)
    with GoldenStore.open(path) as store:
        assert store.run(*CPU).artefacts() == store.run(*CPU).artefacts() == kept


def test_a_joined_change_takes_effect_with_the_one_it_joined(tmp_path: Path) -> None:
    update(tmp_path / "a.h5", "net", {CPU: run_data()})
    with Transaction(tmp_path) as whole:
        joined = Transaction(tmp_path, joined=True)
        joined.update("b.h5", "net", {CPU: run_data(2)})
        assert not (tmp_path / "b.h5").exists()
        assert whole.commit() == ["b.h5"]
    assert (tmp_path / "b.h5").exists()
    assert not (tmp_path / FOLDER).exists()


def test_what_was_not_kept_yet_stays_when_a_change_is_undone(tmp_path: Path) -> None:
    """A journal names what its change was to replace; a file that an earlier attempt put back is kept no more."""
    for name in ("a.h5", "b.h5"):
        update(tmp_path / name, "net", {CPU: run_data()})
    before = {name: (tmp_path / name).read_bytes() for name in ("a.h5", "b.h5")}
    change = Transaction(tmp_path)
    for name in before:
        change.update(name, "net", {CPU: run_data(2)})
    change._decide([*before], [])
    os.replace(tmp_path / FOLDER / "a.h5", tmp_path / "a.h5")
    os.replace(tmp_path / FOLDER / transaction.KEPT / "a.h5", tmp_path / "a.h5")  # as far as the other attempt came
    journal.undo(tmp_path / FOLDER, None)
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    change.drop()


def test_of_an_old_manifest_only_the_asked_stores_are_told(tmp_path: Path) -> None:
    stores = {"a.h5": {"network": "x"}, "b.h5": {"network": "y"}}
    text = json.dumps({"format": manifest.FORMAT, "version": 1, "stores": stores})
    (tmp_path / manifest.NAME).write_text(text)
    assert manifest.read(tmp_path, ["b.h5"])["stores"] == {"b.h5": {"network": "y"}}
    assert manifest.read(tmp_path)["stores"] == stores


def test_folders_in_a_bundle_are_no_stores(tmp_path: Path) -> None:
    source, golden = tmp_path / "candidate", tmp_path / "golden"
    for each in (source / "deep", golden):
        each.mkdir(parents=True)
    update(source / "deep" / "x.h5", "net", {CPU: run_data()})
    seal(source, {RunKey("deep/x.h5", CPU): {"commit": "new"}})
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.mkdir("deep/")
        archive.mkdir("empty.h5/")
        for each in sorted(source.rglob("*")):
            if each.is_file():
                archive.write(each, each.relative_to(source).as_posix())
    accept(tmp_path / "b.zip", golden)
    assert [each.name for each in golden.iterdir()] == ["deep"]
    assert (golden / "deep" / "x.h5").read_bytes() == (source / "deep" / "x.h5").read_bytes()


def test_a_tensor_file_is_closed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "a.npy", np.arange(3))
    closed: list[int] = []
    close = os.close
    monkeypatch.setattr(os, "close", lambda descriptor: (closed.append(descriptor), close(descriptor)))
    with NpyFile(tmp_path / "a.npy") as file:
        file.close()
    assert len(closed) == 1


def _without_flock(patched: pytest.MonkeyPatch) -> None:
    patched.setattr(atomic, "flock", None)


def _without_locks(patched: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    patched.setattr(atomic, "flock", refused)


@pytest.mark.skipif(atomic.flock is None, reason="this system has no locks of files")
@pytest.mark.parametrize("system", [_without_flock, _without_locks])
def test_without_locks_nobody_can_tell_whether_a_leftover_is_in_use(
    tmp_path: Path, system: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "left").write_bytes(b"")
    descriptor = os.open(tmp_path / "left", os.O_RDONLY)
    try:
        assert atomic._hold(descriptor)
        system(monkeypatch)
        assert not atomic._hold(descriptor)
    finally:
        os.close(descriptor)


@pytest.mark.skipif(atomic.flock is None, reason="this system has no locks of files")
def test_a_lock_that_is_its_file_is_removed_where_the_system_fails_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As another program that has it open may make it fail on Windows."""
    unlink, failed = Path.unlink, list[Path]()

    def refused(path: Path, *given: bool, **named: bool) -> None:
        if not failed:
            failed.append(path)
            raise PermissionError(errno.EACCES, "not allowed")
        unlink(path, *given, **named)

    with monkeypatch.context() as patched:
        _without_locks(patched)
        with writer_lock(tmp_path / "x.h5"):
            patched.setattr(Path, "unlink", refused)
    assert len(failed) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(atomic.flock is None, reason="this system has no locks of files")
def test_a_lock_file_that_cannot_be_removed_stays_and_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EACCES, "not allowed")

    with monkeypatch.context() as patched, writer_lock(tmp_path / "x.h5"):
        patched.setattr(Path, "unlink", refused)
    assert atomic.lock_path(tmp_path / "x.h5").exists()
    with writer_lock(tmp_path / "x.h5", timeout=1):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_run_whose_attributes_are_of_another_type_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    update(path, "net", {CPU: run_data()})
    whole = path.read_bytes()
    with path.open("rb") as file:
        found = contents.read_contents(whole[: contents.USER_BLOCK], file.fileno(), len(whole))
    odd = replace(found, runs={CPU: replace(found.runs[CPU], attrs={"emulated": None})})
    text = bytes(contents.encoded(odd).raw)
    head = contents.user_block(len(whole) + len(text), len(whole), contents.encoded(odd))
    path.write_bytes(head + whole[contents.USER_BLOCK :] + text)
    with GoldenStore.open(path) as store, pytest.raises(StoreError, match=r"x\.h5: .*'emulated' is null"):
        store.run(*CPU)
    assert update(path, "net", {CPU: run_data()}).changed
    assert path.read_bytes() == whole
