"""What a store says that cannot be: each part of it is checked where it is read, and the error names it."""

from __future__ import annotations

import errno
import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import atomic
from harness.errors import StoreError, StoreWriteError
from harness.recording.described import Described, Edge
from harness.records import Record
from harness.stats import describe, digest
from harness.store import GoldenStore, RunData, bundle, journal, manifest, sizes, transaction, update, writer
from harness.store.interrupted import recover_around
from harness.store.layout import index as indexes
from harness.store.layout import objects, tables, values
from harness.store.layout.contents import USER_BLOCK, Contents, encoded, read_contents, user_block
from harness.store.layout.schema import FOLDER, PLACES_DTYPE
from harness.store.located import Located
from harness.store.verify import verify
from tests.store.helpers import CPU, _edit, declared, edit_index, edit_table, network, record, run_data


@pytest.fixture
def path(tmp_path: Path) -> Path:
    update(tmp_path / "x.h5", "net", {CPU: run_data()})
    return tmp_path / "x.h5"


def everything(path: Path) -> None:
    with GoldenStore.open(path) as store:
        run = store.run(*CPU)
        for each in run.records():
            each.load()
        assert run.declared is not None


def restate(path: Path, change: Callable[[Contents], Contents]) -> None:
    """Writes other contents behind a store, with their digests."""
    raw = path.read_bytes()
    with path.open("rb") as file:
        stored = encoded(change(read_contents(raw[:USER_BLOCK], file.fileno(), len(raw))))
    text = bytes(stored.raw)
    path.write_bytes(user_block(len(raw) + len(text), len(raw), stored) + raw[USER_BLOCK:] + text)


def with_part(**change: Any) -> Callable[[Contents], Contents]:
    return lambda found: replace(found, parts=[found.parts[0]._replace(**change), *found.parts[1:]])


def with_run(**change: Any) -> Callable[[Contents], Contents]:
    return lambda found: replace(found, runs={CPU: replace(found.runs[CPU], **change)})


@pytest.mark.parametrize(
    "change",
    [
        with_part(offset="1"), with_part(digest=5), with_part(itemsize=0), with_part(size=-1),
        with_part(nbytes=10**12), with_part(offset=10**12), with_run(index=999), with_run(names=True),
        with_run(tables={"odd": 0, "texts": 0}), with_run(tables={"operators": 0}), with_run(identity="x"),
    ],
    ids=range(11),
)  # fmt: skip
def test_contents_that_cannot_be(change: Callable[[Contents], Contents], path: Path) -> None:
    restate(path, lambda found: found)
    everything(path)
    restate(path, change)
    with pytest.raises(StoreError, match="not that of a golden store"):
        everything(path)


def test_bytes_whose_digest_is_another(path: Path) -> None:
    raw = path.read_bytes()
    head = bytearray(raw)
    head[12] ^= 1
    path.write_bytes(head)
    with pytest.raises(StoreError, match="first bytes are damaged: their checksum"):
        everything(path)
    path.write_bytes(raw)
    with path.open("rb") as file:
        number = read_contents(raw[:USER_BLOCK], file.fileno(), len(raw)).runs[CPU].index
    restate(path, lambda found: replace(found, parts=[
        each._replace(digest="0" * 32) if at == number else each for at, each in enumerate(found.parts)
    ]))  # fmt: skip
    with pytest.raises(StoreError, match="the digest of these bytes is wrong"):
        everything(path)


@pytest.mark.parametrize(
    ("field", "value", "told"), [("size", 7, "7 bytes are stored"), ("offset", 10**9, "beyond the end of the file")]
)
def test_a_tensor_that_lies_elsewhere(field: str, value: int, told: str, path: Path) -> None:
    def changed(raw: bytes) -> bytes:
        rows = np.frombuffer(raw, PLACES_DTYPE).copy()
        rows[field][rows["packed"] == 0] = value
        return rows.tobytes()

    _edit(path, lambda found: found.places, changed)
    with pytest.raises(StoreError, match=told):
        everything(path)


@pytest.mark.parametrize("field", ["rank", "execution", "slot"])
def test_an_index_with_a_number_below_0(field: str, path: Path) -> None:
    edit_index(path, 1, field, -1)
    with pytest.raises(StoreError, match="below 0"):
        everything(path)


def test_a_dtype_that_is_none(path: Path) -> None:
    edit_index(path, 1, "dtype", 0)  # the first name is an operator's
    with pytest.raises(StoreError, match="the index's column 'dtype'"):
        everything(path)


def _operator_twice(path: Path) -> None:
    edit_table(path, "operators", 1, "name", 0)
    edit_table(path, "operators", 0, "name", 0)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_operator_twice, "an operator twice"),
        (lambda path: edit_table(path, "edges", 2, "value", -1), "a constant without a value"),
        (lambda path: edit_table(path, "edges", 0, "value", 0), "a constant without a value"),
    ],
    ids=["twice", "no value", "a value too many"],
)
def test_tables_that_contradict_themselves(change: Callable[[Path], None], told: str, path: Path) -> None:
    change(path)
    with pytest.raises(StoreError, match=told):
        everything(path)


@pytest.mark.parametrize(("column", "text"), [("mutates", "1,-1"), ("parts", "3"), ("parts", "[1]")])
def test_texts_of_tables_that_are_none(column: str, text: str, path: Path) -> None:
    edit_table(path, "texts", 0, "", text)
    edit_table(path, "operators", 1, column, 0)
    with pytest.raises(StoreError, match="has the damaged text"):
        everything(path)


@pytest.mark.parametrize("level", ["tensors", "digest"])
def test_a_golden_with_large_constants_and_attributes_is_sound(level: Any, tmp_path: Path) -> None:
    large = np.arange(values.WHOLE, dtype=np.float32)
    one = Described("a", "A", "s", attributes={"table": large}, inputs=(Edge("constant", value=large[1:]),))
    told = values.Withheld("Float32", large.shape, digest(large, "Float32"))
    assert values.text_of(told) == values.text_of(large)
    assert values.value_of(values.text_of(told)) == told
    update(tmp_path / "x.h5", "net", {CPU: RunData(network(), declared=tables.Declared((one,), {}, ()), level=level)})
    manifest.rebuild(tmp_path)
    assert verify(tmp_path).problems == []
    with GoldenStore.open(tmp_path / "x.h5") as store:
        found = store.run(*CPU).declared
    assert found.identity == tables.Declared((one,), {}, ()).identity


def test_a_gap_twice() -> None:
    found = declared()
    raw = {name: table.tobytes() for name, table in tables.tables_of(found).items()}
    assert tables.declared_of(raw).gaps == found.gaps
    with pytest.raises(StoreError, match="'gaps' has a slot twice"):
        tables.declared_of({**raw, "gaps": raw["gaps"] * 2})


def test_what_no_table_holds() -> None:
    with pytest.raises(StoreError, match="more than 31 bits"):
        tables.tables_of(tables.Declared((Described("a", "A", "s", rank=2**40),), {}, ()))
    deep: Any = 1
    for _ in range(values._DEEPEST + 3):
        deep = [deep]
    with pytest.raises(StoreError, match="cannot be stored: values lie deeper"):
        tables.tables_of(tables.Declared((Described("a", "A", "s", attributes={"x": deep}),), {}, ()))


def test_objects_that_are_not_what_the_index_says(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"12345")
    with (tmp_path / "f").open("rb") as file:
        assert objects.fetch(file.fileno(), 3, 1).tobytes() == b"234"
        with pytest.raises(StoreError, match="ends 2 bytes too early"):
            objects.fetch(file.fileno(), 5, 2)
    with pytest.raises(StoreError, match="Odd"):
        objects.stored_dtype("Odd")
    stored = objects.to_stored(np.zeros((2, 3), np.float32), "Float32", "none")
    with pytest.raises(StoreError, match="but the stored array is"):
        objects.from_stored(stored, "Float32", (3, 2))
    with pytest.raises(StoreError, match="another number"):
        objects.from_stored(replace(stored, raw=np.zeros(5, np.uint8)), "Float32", (2, 3))
    small, large = (objects.packed_table(np.zeros(size, np.uint8)) for size in (100_000, 200_000_000))
    assert small.packed
    assert not large.packed  # a reader would take it for a bomb


def test_long_indexes_are_read_row_by_row_as_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "_TOGETHER", 3)
    builder = indexes.IndexBuilder()
    records = network(operators=4)
    for each in records:
        builder.claim(each.key)
        builder.add(each, b"d" * 16, objects_described(each))
    built = builder.build()
    again = indexes.checked_index(built.rows, built.names)
    order = [7, 1, 11, 4, 3, 0, 2]
    assert [again.shape(row) for row in order] == [records[row].shape for row in order]
    fresh = indexes.Index(built.rows, built.names)  # no names were read before
    assert [fresh.shape(row) for row in order] == [records[row].shape for row in order]
    assert [fresh.statistics(row) for row in order] == [objects_described(records[row]) for row in order]


def objects_described(each: Record) -> Any:
    return describe(each.load(), each.dtype)


def test_a_slot_without_values_keeps_its_statistics(tmp_path: Path) -> None:
    whole = record(np.arange(6, dtype=np.float32))
    told = objects_described(whole)
    without = record(np.arange(6, dtype=np.float32), slot=1)
    without.values, without.digest, without.extra.statistics = None, b"d" * 16, told
    update(tmp_path / "x.h5", "net", {CPU: RunData([whole, without])})
    with GoldenStore.open(tmp_path / "x.h5") as store:
        run = store.run(*CPU)
        assert [run.index.has_values(row) for row in (0, 1)] == [True, False]
        assert [run.index.statistics(row) for row in (0, 1)] == [told, told]
        assert [run.index.record(row).extra.apart for row in (0, 1)] == [False, True]


def test_an_error_of_the_system_is_told_with_its_place() -> None:
    with (
        pytest.raises(StoreError, match=r"x\.h5: run cpu/tensor: parts: Input/output error"),
        Located("x.h5", "parts", CPU),
    ):
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_large_goldens_are_named(tmp_path: Path) -> None:
    for at in range(5):
        (tmp_path / f"{at}.h5").write_bytes(bytes(1000 * (at + 1)))
    paths = [tmp_path / f"{at}.h5" for at in range(5)]
    assert list(sizes.large([*paths, tmp_path / "missing"], least=9000)) == []
    (line,) = sizes.large([*paths, tmp_path / "missing"], least=2000)
    assert "4.h5" in line
    assert "and 1 more" in line
    assert "0.h5" not in line


def test_a_change_left_by_a_killed_command_is_completed_before_goldens_are_read(tmp_path: Path) -> None:
    update(tmp_path / "x.h5", "net", {CPU: run_data()})
    staged = tmp_path / FOLDER
    staged.mkdir()
    (staged / "left").write_text("x")
    assert not journal.is_being_put_in_place(tmp_path)
    recover_around(tmp_path / "x.h5")
    everything(tmp_path / "x.h5")
    staged.mkdir(exist_ok=True)
    (staged / journal.JOURNAL).write_text('{"format": "another", "files": [], "remove": [], "fresh": []}')
    assert journal.is_being_put_in_place(tmp_path)
    with pytest.raises(StoreError, match=FOLDER):
        recover_around(tmp_path / "x.h5")


def test_recovery_waits_for_no_living_change(tmp_path: Path) -> None:
    with transaction.Transaction(tmp_path):
        assert journal.recover_staged(tmp_path / FOLDER) == []


def test_a_file_that_cannot_be_linked_is_copied_and_other_errors_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("x")
    for number, copies in ((errno.EPERM, True), (errno.EIO, False)):

        def failing(*_: Any, number: int = number, **__: Any) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "link", failing)
        if copies:
            journal.keep(tmp_path / "a", tmp_path / "b")
            assert (tmp_path / "b").read_text() == "x"
        else:
            with pytest.raises(OSError, match="Input/output"):
                journal.keep(tmp_path / "a", tmp_path / "c")


def test_undoing_what_was_never_decided_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / "x.h5").write_text("x")
    journal.undo(tmp_path / FOLDER, None)
    assert (tmp_path / "x.h5").read_text() == "x"


def test_a_change_that_cannot_begin_leaves_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mkdir, raised = Path.mkdir, [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()]

    def failing(self: Path, *given: Any, **named: Any) -> None:
        if self.name == FOLDER and raised:
            raise raised.pop(0)
        mkdir(self, *given, **named)

    monkeypatch.setattr(Path, "mkdir", failing)
    with pytest.raises(StoreWriteError, match="No space left"):
        transaction.Transaction(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        transaction.Transaction(tmp_path)
    with transaction.Transaction(tmp_path, timeout=0) as change:
        change.update("x.h5", "net", {CPU: run_data()})
        change.commit()
    everything(tmp_path / "x.h5")


def test_one_store_needs_its_name_and_its_directory(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"ends in \.h5"):
        transaction.change_one(tmp_path / "x.hdf", "net", {CPU: run_data()})
    with pytest.raises(StoreWriteError, match="there is no directory"):
        transaction.change_one(tmp_path / "no" / "x.h5", "net", {CPU: run_data()})


def test_a_file_is_no_directory_of_goldens(path: Path) -> None:
    with pytest.raises(StoreError, match="a directory of goldens is read whole"):
        verify(path)


def test_manifests_are_swept_written_whole_or_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest.rebuild(path.parent)
    stray = path.with_name("gone.h5.manifest.json")
    name = manifest.path_of("x.h5")
    stray.write_text((path.parent / name).read_text())

    def failing(*_: Any) -> None:
        raise OSError(errno.EROFS, "read-only")

    with monkeypatch.context() as patch:
        patch.setattr(manifest, "remove", failing)
        with pytest.raises(StoreWriteError, match="a manifest could not be written"):
            manifest.rebuild(path.parent)
    assert manifest.rebuild(path.parent)
    assert not stray.exists()
    with pytest.raises(StoreError, match="which is not a text"):
        manifest.runs_of({"stores": {"x.h5": {"runs": {"\ud800/tensor": {}}}}})


def test_a_run_is_pickled_as_its_place(path: Path) -> None:
    with GoldenStore.open(path) as store:
        run = store.run(*CPU)
        again = pickle.loads(pickle.dumps(run))
        np.testing.assert_array_equal(again.tensor(0), run.tensor(0))


def test_a_damaged_run_is_written_anew_and_told(path: Path) -> None:
    _operator_twice(path)
    with GoldenStore.open(path) as store:
        assert any("an operator twice" in each for each in store.run(*CPU).problems())
    update(path, "net", {CPU: run_data()})
    everything(path)


def test_values_that_change_while_they_are_read_are_not_kept(tmp_path: Path) -> None:
    class Changing(Record):
        calls = 0

        def pieces(self) -> Any:
            self.calls += 1
            return iter([np.full(6, self.calls, np.float32) + np.arange(6, dtype=np.float32)])

    plain = record(np.arange(6, dtype=np.float32))
    changing = Changing(plain.key, plain.op_type, plain.dtype, plain.shape, values=plain.values)
    with pytest.raises(StoreError, match="changed while they were read"):
        update(tmp_path / "x.h5", "net", {CPU: RunData([changing])})
    assert not (tmp_path / "x.h5").exists()


def test_statistics_are_forgotten_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_REMEMBERED", 2)
    update(tmp_path / "x.h5", "net", {CPU: run_data()}, compression="gzip")
    everything(tmp_path / "x.h5")
    with GoldenStore.open(tmp_path / "x.h5") as store:
        run = store.run(*CPU)
        told = [run.index.statistics(row) for row in range(len(run.index))]
        assert told == [objects_described(each) for each in network()]


def test_two_names_of_one_place_are_refused() -> None:
    tree: Any = {}
    writer._link(tree, b"a/b", b"1")
    with pytest.raises(ValueError, match="is taken"):
        writer._link(tree, b"a/b", b"2")
    with pytest.raises(ValueError, match="not a group"):
        writer._link(tree, b"a/b/c", b"3")
    with pytest.raises(StoreError, match="not the one this schema version describes"):
        writer._table("operators", b"123")


def test_a_disk_that_keeps_something_else_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    update(tmp_path / "x.h5", "net", {CPU: run_data()})
    before = (tmp_path / "x.h5").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(GoldenStore, "runs", lambda _self: ())
        with pytest.raises(StoreWriteError, match="did not keep what was written"):
            update(tmp_path / "x.h5", "net", {CPU: run_data(1)})
    assert (tmp_path / "x.h5").read_bytes() == before


def test_what_killed_writers_of_manifests_left_goes(path: Path) -> None:
    left = path.with_name(f".{manifest.path_of('x.h5')}.4711.tmp")
    left.write_text("x")
    manifest.rebuild(path.parent)
    assert not left.exists()


def test_a_bundle_that_cannot_be_sealed_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = atomic.write_atomically

    def failing(target: Path, *given: Any, **named: Any) -> Any:
        if target.name == bundle.MARK:
            raise OSError(errno.ENOSPC, "full")
        return write(target, *given, **named)

    monkeypatch.setattr(atomic, "write_atomically", failing)
    with pytest.raises(StoreWriteError, match="the bundle could not be written"):
        bundle.seal(path.parent, {})


def test_a_store_of_which_nothing_is_wanted_is_left_out(path: Path, tmp_path: Path) -> None:
    source, golden = tmp_path / "bundle", tmp_path / "golden"
    source.mkdir()
    path.rename(source / "x.h5")
    bundle.seal(source, {})
    assert not bundle.accept(source, golden, wanted=lambda *_: False)
    assert not (golden / "x.h5").exists()
    assert bundle.accept(source, golden)
    everything(golden / "x.h5")


def test_a_damaged_old_run_gives_nothing_to_a_new_one(path: Path) -> None:
    """The old file's parts are used again where they are sound; where they are not, the run is written whole."""
    before = path.read_bytes()
    raw = bytearray(before)
    with path.open("rb") as file:
        found = read_contents(before[:USER_BLOCK], file.fileno(), len(before))
    part = found.parts[found.runs[CPU].tables["operators"]]
    raw[part.offset : part.offset + part.size] = bytes(part.size)
    path.write_bytes(raw)
    result = update(path, "net", {CPU: run_data()})
    assert result.changed
    assert path.read_bytes() == before


def test_a_change_that_finds_a_session_above_begins_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    above, asked = transaction._above, []

    def elsewhere_once(place: Path) -> Path:
        asked.append(place)
        return path.parent.parent if len(asked) == 2 else above(place)

    monkeypatch.setattr(transaction, "_above", elsewhere_once)
    assert transaction.change_one(path, "net", {CPU: run_data(1)}).changed
    assert len(asked) == 4
    everything(path)


def test_a_store_whose_last_run_goes_is_removed_with_its_manifest(path: Path) -> None:
    manifest.rebuild(path.parent)
    with transaction.Transaction(path.parent) as change:
        assert not change.update("x.h5", "net", {CPU: None}).exists
        change.commit()
    assert not path.exists()


def test_a_recovery_that_fails_with_nothing_decided_harms_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / FOLDER).mkdir()

    def failing(*_: Any) -> None:
        raise OSError(errno.EROFS, "read-only")

    monkeypatch.setattr(journal, "settle", failing)
    assert journal.recover_staged(tmp_path / FOLDER) == []
    (tmp_path / FOLDER / journal.JOURNAL).write_text('{"format": 1, "files": ["x.h5"], "remove": [], "fresh": []}')
    with pytest.raises(StoreError, match=r"unfinished|journal"):
        journal.recover_staged(tmp_path / FOLDER)
