"""Reading: a golden is data from elsewhere."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import StoreError
from harness.store import GoldenStore, RunData, update
from harness.store.layout import contents as contents_module
from harness.store.layout.contents import _HEAD as HEAD
from harness.store.layout.contents import USER_BLOCK, read_contents
from harness.store.layout.objects import Stored
from harness.store.layout.schema import SCHEMA
from tests.examples import examples
from tests.store.helpers import ARTEFACTS, ASCEND, CPU, contents, edit_index, network, plain, record, run_data


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of two runs."""
    update(tmp_path / "x.h5", "net", {CPU: run_data(), ASCEND: run_data(1, level="digest")})
    return tmp_path / "x.h5"


def everything(path: Path) -> None:
    """Reads all there is."""
    contents(path)
    with GoldenStore.open(path) as store:
        for run in store.runs():
            store.run(*run).artefacts()
            _ = store.run(*run).attrs
        _ = store.compression


def test_values_load_on_demand_and_only_while_open(path: Path) -> None:
    with GoldenStore.open(path) as store:
        lazy = list(store.run(*CPU).records())
        assert callable(lazy[0].values)
        assert list(plain(lazy)) == list(plain(network()))
    with pytest.raises(StoreError, match="the store is closed"):
        lazy[0].load()


def test_a_store_replaced_while_open_is_read_as_it_was(path: Path) -> None:
    with GoldenStore.open(path) as store:
        update(path, "net", {CPU: run_data(5)})
        assert list(plain(store.run(*CPU).records())) == list(plain(network()))
    assert contents(path)[CPU] == list(plain(network(5)))


def test_a_read_only_file_in_a_read_only_directory(path: Path) -> None:
    expected = contents(path)
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        assert contents(path) == expected
    finally:
        path.parent.chmod(0o700)


def test_missing_things_are_named(path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.h5: there is no such golden store"):
        GoldenStore.open(path.with_name("nothing.h5"))
    with (
        GoldenStore.open(path) as store,
        pytest.raises(
            StoreError, match=r"no run gpu/tensor is stored here; the store holds: ascend-o0/statistic, cpu/tensor"
        ),
    ):
        store.run("gpu", "tensor")


@pytest.mark.parametrize("content", [b"", b"\0" * 5000, b"\x89HDF\r\n\x1a\n", b"no HDF5"], ids=range(4))
def test_what_is_no_hdf5(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.h5").write_bytes(content)
    with pytest.raises(StoreError, match=r"x\.h5: not a complete HDF5 file"):
        GoldenStore.open(tmp_path / "x.h5")


def test_a_directory_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="this is a directory; a golden store is one file"):
        GoldenStore.open(tmp_path)


def test_a_fifo_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.h5")
    with pytest.raises(StoreError, match="regular file is needed"):
        GoldenStore.open(tmp_path / "x.h5")


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [(LFS, "a git-LFS pointer, not the golden itself: run `git lfs pull`"), (b"<<<<<<< HEAD\n", "conflict markers")],
    ids=["lfs", "conflict"],
)
def test_what_git_leaves_in_place_of_a_golden_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "x.h5").write_bytes(content)
    with pytest.raises(StoreError, match=said):
        GoldenStore.open(tmp_path / "x.h5")


def test_line_ends_that_were_translated_are_noticed(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n"))
    with pytest.raises(StoreError, match=r"its first bytes are damaged: .* copied as text"):
        GoldenStore.open(path)


def resign(raw: bytearray, **change: int) -> bytes:
    """A store with other numbers in its user block, whose checksum is right again."""
    names = ("schema", "size", "offset", "stored", "length")
    fields = dict(zip(("magic", *names, "digest"), HEAD.unpack_from(raw), strict=True)) | change
    head = HEAD.pack(*fields.values())
    raw[: HEAD.size + 8] = head + xxhash.xxh3_64_intdigest(head).to_bytes(8, "little")
    return bytes(raw)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": SCHEMA + 1}, r"schema version \d+ was written by a newer pytest-msdump"),
        ({"schema": 0}, "schema version 0 is not known"),
        ({"size": 10}, r"it should have 10 bytes, but has \d+: bytes were lost or added"),
        ({"offset": 2**62}, "its table of contents lies beyond its end"),
        ({"stored": 2**62}, "its table of contents lies beyond its end"),
        ({"stored": 3}, "its table of contents is damaged"),
        ({"length": 2**40}, "its table of contents lies beyond its end"),
        ({"length": 1}, "does not hold|not those of a golden store|not have"),
    ],
    ids=str,
)
def test_hostile_numbers_in_the_user_block(path: Path, change: dict[str, int], said: str) -> None:
    path.write_bytes(resign(bytearray(path.read_bytes()), **change))
    with pytest.raises(StoreError, match=said):
        GoldenStore.open(path)


NUMBERS = st.integers(-(2**65), 2**65) | st.floats() | st.none() | st.text(max_size=3)
JSON = st.recursive(NUMBERS, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=9), inner))


@examples(25, 200)
@given(st.data())
def test_contents_of_any_kind_are_a_store_or_one_error(
    originals: list[tuple[Path, bytes, Any]], data: st.DataObject
) -> None:
    path, raw, _ = originals[0]
    path.write_bytes(raw)
    with open(path, "rb") as file:
        head = file.read(USER_BLOCK)
        whole = contents_module._plain(read_contents(head, file.fileno(), len(raw)))
    where = whole
    while isinstance(where, dict | list) and where:  # go down to some value, and put another there
        keys = sorted(where) if isinstance(where, dict) else list(range(len(where)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(where[key], dict | list) or data.draw(st.booleans()):
            where[key] = data.draw(JSON)
            break
        where = where[key]
    text = json.dumps(whole).encode()
    stored = Stored(np.dtype(f"S{len(text)}"), (1,), text, packed=False)
    path.write_bytes(contents_module.user_block(len(raw) + len(text), len(raw), stored) + raw[USER_BLOCK:] + text)
    try:
        everything(path)
        with GoldenStore.open(path) as store:
            store.verify()
    except StoreError:
        return


def test_every_truncation_is_noticed(path: Path) -> None:
    whole = path.read_bytes()
    for size in range(0, len(whole), len(whole) // 40):
        path.write_bytes(whole[:size])
        with pytest.raises(StoreError):
            GoldenStore.open(path)


def flip(path: Path, at: int) -> None:
    raw = bytearray(path.read_bytes())
    raw[at] ^= 1
    path.write_bytes(raw)


def test_verify_names_everything_that_is_wrong(path: Path) -> None:
    with GoldenStore.open(path) as store:
        assert store.verify() == []
        names = store._source._contents.runs[ASCEND].artefacts  # type: ignore[attr-defined]
        text = store._source._contents.parts[names["graphs/kernel_graph0.ir"]].offset  # type: ignore[attr-defined]
        tensor = store._source.places[store.run(*CPU).index.digests[2]][0]  # type: ignore[attr-defined]
    flip(path, text)
    flip(path, tensor)
    with GoldenStore.open(path) as store:
        problems = store.verify()
    assert len(problems) == 4  # two slots have that tensor
    assert "run ascend-o0/statistic: artefact graphs/kernel_graph0.ir: " in problems[0]
    assert "run cpu/tensor: artefact graphs/kernel_graph0.ir: " in problems[1]
    assert "Default/layer0-Dense/MatMul-op0 output.0: the golden is damaged: the index says digest" in problems[2]


def test_a_run_that_was_altered_throughout_is_noticed(path: Path) -> None:
    """Somebody who repairs every digest on the way still leaves the run's own checksum."""
    raw = path.read_bytes()
    with open(path, "rb") as file:
        whole = contents_module._plain(read_contents(raw[:USER_BLOCK], file.fileno(), len(raw)))
    whole["runs"]["cpu/tensor"]["attrs"] = {"emulated": False}
    text = json.dumps(whole).encode()
    stored = Stored(np.dtype(f"S{len(text)}"), (1,), text, packed=False)
    path.write_bytes(contents_module.user_block(len(raw) + len(text), len(raw), stored) + raw[USER_BLOCK:] + text)
    with GoldenStore.open(path) as store:
        assert store.verify() == [f"{path}: run cpu/tensor: it was altered after it was written (checksum)"]


def test_verify_goes_on_after_a_run_that_cannot_be_read(path: Path) -> None:
    with GoldenStore.open(path) as store:
        entry = store._source._contents.runs[ASCEND]  # type: ignore[attr-defined]
        at = store._source._contents.parts[entry.index].offset  # type: ignore[attr-defined]
    flip(path, at)
    edit_index(path, 0, "digest", b"\1" * 16)
    with GoldenStore.open(path) as store:
        found = [problem.split(": ")[1] for problem in store.verify()]
    assert found == ["run ascend-o0/statistic", "run cpu/tensor", "run cpu/tensor"]


def test_changed_values_are_noticed_when_read(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    value = np.float32(1.2345678)
    update(path, "net", {CPU: RunData([record(value)])})
    raw = path.read_bytes()
    assert raw.count(value.tobytes()) == 1
    path.write_bytes(raw.replace(value.tobytes(), np.nextafter(value, np.float32(2)).tobytes()))
    with GoldenStore.open(path) as store, pytest.raises(StoreError, match=r"output\.0: the golden is damaged"):
        store.run(*CPU).tensor(0)


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, bytes, Any]]:
    """Stores to damage: path, bytes, contents."""
    made = []
    for compression in ("none", "gzip"):
        path = tmp_path_factory.mktemp("fuzz") / "x.h5"
        update(path, "net", {CPU: run_data(), ASCEND: run_data(1, level="digest")}, compression=compression)
        made.append((path, path.read_bytes(), (contents(path), ARTEFACTS)))
    return made


@examples(20, 150)
@given(st.data())
def test_any_damage_is_noticed_or_harmless(originals: list[tuple[Path, bytes, Any]], data: st.DataObject) -> None:
    path, whole, expected = data.draw(st.sampled_from(originals))
    raw = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at] = data.draw(st.sampled_from([0, 255, raw[at] ^ 1, raw[at] ^ 128]))
    path.write_bytes(raw)
    try:
        with GoldenStore.open(path) as store:
            problems = store.verify()
        found = (contents(path), ARTEFACTS)
        with GoldenStore.open(path) as store:
            texts = [store.run(*run).artefacts() for run in store.runs()]
    except StoreError:
        return
    assert problems or (found == expected and texts == [ARTEFACTS] * 2)


def test_closing_leaves_no_file_open(path: Path) -> None:
    def opened() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = opened()
    for _ in range(3):
        with GoldenStore.open(path) as store:
            store.run(*CPU).tensor(0)
        with pytest.raises(StoreError), GoldenStore.open(path) as store:
            store.run("no", "run")
    assert opened() == before
