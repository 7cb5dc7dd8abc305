"""Writing: what goes in comes out, and equal results are equal files."""

from __future__ import annotations

import itertools
import os
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness import dtypes
from harness.errors import StoreError
from harness.records import Record, Streamed
from harness.stats import describe, digest
from harness.stats.blocks import BLOCK
from harness.store import Compression, GoldenStore, Level, RunData, RunId, rewrite, update
from tests.store.helpers import ARTEFACTS, ASCEND, CPU, contents, network, plain, record, run_data

COMPRESSIONS: tuple[Compression, ...] = ("none", "gzip")


def every_dtype() -> list[Record]:
    """A slot of each dtype and of several shapes; repeats and empty arrays among them."""
    records = []
    for number, dtype in enumerate(dtypes.ALL):
        raw = np.random.default_rng(number).integers(0, 2, 600 * dtype.itemsize, np.uint8)
        for slot, shape in enumerate([(), (1,), (0, 4), (20, 30), (2, 3, 1, 1)]):
            array = raw[: int(np.prod(shape)) * dtype.itemsize].view(dtype.numpy).reshape(shape)
            records.append(record(array, f"Default/Op-op{number}", slot=slot))
    return records


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_everything_comes_back(tmp_path: Path, compression: Compression) -> None:
    path, records = tmp_path / "x.h5", every_dtype()
    attrs = {"emulated": True, "rules": {"notes": ["a", None, 1.5]}, "tolerance": {"default": "exact"}}
    result = update(path, "net", {CPU: RunData(records, ARTEFACTS, attrs)}, compression=compression)
    assert (result.changed, result.exists, result.size) == (True, True, path.stat().st_size)
    assert result.objects == len({digest(r.values, r.dtype) for r in records})
    with GoldenStore.open(path) as store:
        run = store.run(*CPU)
        assert (store.network, store.compression, store.runs(), run.level) == ("net", compression, (CPU,), "tensors")
        assert list(plain(run.records())) == list(plain(records))
        assert run.artefacts() == dict(sorted(ARTEFACTS.items()))
        assert run.attrs == attrs
        for got, given_ in zip(run.records(), records, strict=True):
            assert repr(got.extra.statistics) == repr(describe(given_.values, given_.dtype))
        assert store.verify() == []


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_plain_h5py_reads_it(tmp_path: Path, compression: Compression) -> None:
    path, records = tmp_path / "x.h5", every_dtype()
    update(path, "net", {CPU: RunData(records, ARTEFACTS)}, compression=compression)
    with h5py.File(path) as file:
        run = file["runs/cpu/tensor"]
        names = run["names"].asstr()[()]
        for row, r in zip(run["index"][()], records, strict=True):
            assert names[row["operator"]] == r.key.operator
            assert names[row["dtype"]] == r.dtype
            stored = run[f"tensors/rank0/graph0/iteration0/{r.key.operator}/{r.key.slot_name}"]
            assert stored == file["objects"][row["digest"].tobytes().hex()]
            expected = r.values.view(np.uint16) if r.dtype == "BFloat16" else r.values
            assert stored.attrs.get("dtype", b"").decode() == ("BFloat16" if r.dtype == "BFloat16" else "")
            assert stored[()].dtype == expected.dtype
            assert np.array_equal(stored[()].tobytes(), expected.tobytes())
        for name, text in ARTEFACTS.items():
            assert b"".join(run[name][()]) == text


def test_digest_level_keeps_no_values(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    result = update(path, "net", {CPU: run_data(level="digest")})
    assert result.objects == 0
    with GoldenStore.open(path) as store:
        run = store.run(*CPU)
        assert run.level == "digest"
        for got, r in zip(run.records(), network(), strict=True):
            assert got.load() is None
            assert got.digest == digest(r.values, r.dtype)
            assert got.extra.statistics == describe(r.values, r.dtype)
        with pytest.raises(StoreError, match="values were not kept"):
            run.tensor(0)
        assert store.verify() == []


# --- equal results, equal files -------------------------------------------------------------------------------------


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_writing_again_changes_nothing(tmp_path: Path, compression: Compression) -> None:
    path = tmp_path / "x.h5"
    update(path, "net", {CPU: run_data()}, compression=compression)
    os.utime(path, ns=(10**18, 10**18))
    content, before = path.read_bytes(), path.stat()
    result = update(path, "net", {CPU: run_data()})
    assert not result.changed
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, 10**18)
    other = tmp_path / "y.h5"
    update(other, "net", {CPU: run_data()}, compression=compression)
    assert other.read_bytes() == content


RUNS = [CPU, ASCEND, RunId("mindspore", "tensor")]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_a_partial_update_gives_the_bytes_of_a_full_one(
    tmp_path: Path, compression: Compression, order: tuple[int, ...]
) -> None:
    # Runs share arrays: 0 and 2 have the same seed for half of their operators.
    data = {run: lambda n=n: RunData(network(n % 2, 4 + n), ARTEFACTS, {"n": n}) for n, run in enumerate(RUNS)}
    whole, parts = tmp_path / "whole.h5", tmp_path / "parts.h5"
    update(whole, "net", {run: make() for run, make in data.items()}, compression=compression)
    update(parts, "net", {run: run_data(9) for run in RUNS[:2]}, compression=compression)
    for n in order:
        update(parts, "net", {RUNS[n]: data[RUNS[n]]()})
    assert parts.read_bytes() == whole.read_bytes()


def test_deleting_a_run_gives_the_bytes_of_never_having_had_it(tmp_path: Path) -> None:
    path, alone = tmp_path / "x.h5", tmp_path / "y.h5"
    update(path, "net", {CPU: run_data(), ASCEND: run_data(1)})
    result = update(path, "net", {ASCEND: None})
    update(alone, "net", {CPU: run_data()})
    assert path.read_bytes() == alone.read_bytes()
    assert (result.runs[ASCEND].slots, result.runs[ASCEND].removed) == (0, len(network()))
    result = update(path, "net", {CPU: None})
    assert (result.changed, result.exists, path.exists()) == (True, False, False)
    assert not update(path, "net", {CPU: None}).changed


def test_what_another_zlib_packed_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.h5"
    sparse = [record(np.zeros((64, 64), np.float32))]
    data = {CPU: RunData(sparse, ARTEFACTS), ASCEND: RunData(sparse, ARTEFACTS)}
    update(path, "net", data, compression="gzip")
    content = path.read_bytes()
    monkeypatch.setattr("harness.store.layout.objects.DEFLATE_LEVEL", 0)
    update(tmp_path / "y.h5", "net", data, compression="gzip")
    assert (tmp_path / "y.h5").read_bytes() != content  # so the level does show
    assert not update(path, "net", data).changed
    assert not update(path, "net", {CPU: data[CPU]}).changed
    assert path.read_bytes() == content


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_rewrite_changes_the_compression_and_nothing_else(tmp_path: Path, compression: Compression) -> None:
    path, other = tmp_path / "x.h5", tmp_path / "y.h5"
    data = {CPU: RunData([record(np.arange(4096, dtype=np.int64)), *network()], ARTEFACTS), ASCEND: run_data(1)}
    update(path, "net", data)
    before = contents(path)
    rewrite(path, compression=compression)
    update(other, "net", data, compression=compression)
    assert path.read_bytes() == other.read_bytes()
    assert contents(path) == before
    assert not rewrite(path).changed


def test_an_update_reports_slot_by_slot(tmp_path: Path) -> None:
    path, records = tmp_path / "x.h5", network()
    update(path, "net", {CPU: RunData(records)})
    changed = [*records[:-2], record(np.float32(7), records[-2].key.operator, "output", 0), record(1, "New-op0")]
    result = update(path, "net", {CPU: RunData(changed)})
    change = result.runs[CPU]
    assert (change.slots, change.new, change.changed, change.removed) == (len(changed), 1, 1, 1)
    assert change.unchanged == len(records) - 2


def test_runs_of_another_store_can_be_taken_over(tmp_path: Path) -> None:
    path, other = tmp_path / "x.h5", tmp_path / "y.h5"
    update(path, "net", {CPU: run_data(1), ASCEND: run_data(2)}, compression="gzip")
    with GoldenStore.open(path) as store:
        update(other, "net", {CPU: store.run(*CPU)})
    fresh = tmp_path / "z.h5"
    update(fresh, "net", {CPU: run_data(1)})
    assert other.read_bytes() == fresh.read_bytes()


# --- odd things -----------------------------------------------------------------------------------------------------

odd_names = st.text(st.sampled_from("aé./%@ 01-output"), min_size=1, max_size=20)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(odd_names, unique=True, max_size=6),
    hnp.arrays(st.sampled_from([np.int16, np.float64, np.bool_]), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0)),
    st.lists(odd_names, unique=True, max_size=3),
)
def test_any_names_and_arrays(
    tmp_path_factory: pytest.TempPathFactory, operators: list[str], array: np.ndarray[Any, Any], texts: list[str]
) -> None:
    path = tmp_path_factory.mktemp("any") / "x.h5"
    records = [record(array, name, execution=n, slot=s) for name in operators for n in range(2) for s in range(2)]
    artefacts = {f"a{n}/{name}": name.encode() * n for n, name in enumerate(texts)}
    update(path, "net", {CPU: RunData(records, artefacts)})
    with GoldenStore.open(path) as store:
        assert list(plain(store.run(*CPU).records())) == list(plain(records))
        assert store.run(*CPU).artefacts() == artefacts
        assert store.verify() == []


def test_equal_texts_are_stored_once(tmp_path: Path) -> None:
    text = np.random.default_rng(0).bytes(30_000)
    one, two = tmp_path / "one.h5", tmp_path / "two.h5"
    update(one, "net", {CPU: RunData([], {"a": text})})
    runs = {CPU: RunData([], {"a": text, "b/c": text}), ASCEND: RunData([], {"a": text})}
    update(two, "net", runs)
    assert two.stat().st_size < one.stat().st_size + len(text) // 2
    with GoldenStore.open(two) as store:
        assert store.run(*CPU).artefacts() == {"a": text, "b/c": text}
        assert store.run(*ASCEND).artefacts() == {"a": text}
        assert store.verify() == []
    whole = two.read_bytes()
    for run, data in runs.items():
        update(two, "net", {run: None})
        update(two, "net", {run: data})
        assert two.read_bytes() == whole


def test_an_empty_run_is_a_run(tmp_path: Path) -> None:
    update(tmp_path / "x.h5", "net", {CPU: RunData([])})
    with GoldenStore.open(tmp_path / "x.h5") as store:
        assert store.runs() == (CPU,)
        assert list(store.run(*CPU).records()) == []


def test_layouts_in_memory_do_not_matter(tmp_path: Path) -> None:
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    straight, twisted = tmp_path / "x.h5", tmp_path / "y.h5"
    update(straight, "net", {CPU: RunData([record(np.ascontiguousarray(array.T))])})
    update(twisted, "net", {CPU: RunData([record(array.T)])})
    assert straight.read_bytes() == twisted.read_bytes()


def test_many_slots_stream(tmp_path: Path) -> None:
    """A generator's tensors are not kept: memory stays at the largest one, however many there are."""
    size = 4 * 2**20

    def stream() -> Iterator[Record]:
        for number in range(12):
            yield record(np.full(size // 4, number, np.float32), f"Default/Op-op{number}")

    def load(number: int) -> Any:
        return lambda: np.full(size // 4, number, np.float32)

    def lazy() -> Iterator[Record]:
        for number in range(12):
            r = record(np.empty((size // 4,), np.float32), f"Default/Op-op{number}")
            r.values = load(number)
            yield r

    for source in (stream, lazy):
        tracemalloc.start()
        update(tmp_path / f"{source.__name__}.h5", "net", {CPU: RunData(source())})
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 3.5 * size
    assert (tmp_path / "stream.h5").read_bytes() == (tmp_path / "lazy.h5").read_bytes()


def wrong_digest() -> Record:
    return record(1.0, digest=bytes(16))


def wrong_shape() -> Record:
    r = record(np.zeros((2, 3)))
    r.shape = (3, 2)
    return r


def wrong_dtype() -> Record:
    r = record(np.zeros(3, np.float32))
    r.dtype = "Float64"
    return r


def no_values() -> Record:
    r = record(1.0)
    r.values = None
    return r


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (wrong_digest, "its digest is .*, but the record says 0{32}"),
        (wrong_shape, r"should have shape \[3, 2\], but has \[2, 3\]"),
        (wrong_dtype, "float32 was given as Float64"),
        (no_values, "has no values"),
        (lambda: record(1.0, execution=2**40), "is not a slot"),
    ],
)
def test_what_cannot_be_stored_is_named_and_leaves_the_old_store(tmp_path: Path, make: Any, said: str) -> None:
    path = tmp_path / "x.h5"
    update(path, "net", {CPU: run_data()})
    before = path.read_bytes()
    with pytest.raises(StoreError, match=said) as caught:
        update(path, "net", {CPU: RunData([*network(), make()])})
    assert "Default/fc-Dense/MatMul-op0" in str(caught.value)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_one_slot_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="two records are given"):
        update(tmp_path / "x.h5", "net", {CPU: RunData([record(1.0), record(2.0)])})


def test_a_digest_record_needs_no_values_at_digest_level(tmp_path: Path) -> None:
    full, bare = tmp_path / "x.h5", tmp_path / "y.h5"
    update(full, "net", {CPU: RunData(network(), level="digest")})
    with GoldenStore.open(full) as store:
        update(bare, "net", {CPU: RunData(list(store.run(*CPU).records()), level="digest")})
    assert bare.read_bytes() == full.read_bytes()


def test_wrong_arguments(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    with pytest.raises(StoreError, match="unknown compression 'zstd'; known are none, gzip"):
        update(path, "net", {}, compression="zstd")  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="unknown level 'all'; known are tensors, digest"):
        update(path, "net", {CPU: RunData([], level="all")})  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="attrs are not JSON"):
        update(path, "net", {CPU: RunData([], attrs={"a": {1, 2}})})
    with pytest.raises(StoreError, match="attrs are not JSON"):
        update(path, "net", {CPU: RunData([], attrs={"a": float("nan")})})
    with pytest.raises(StoreError, match=r"attribute 'attrs' would take \d+ bytes; at most"):
        update(path, "net", {CPU: RunData([], attrs={"a": "x" * 70_000})})
    with pytest.raises(StoreError, match="cannot be stored with the others"):
        update(path, "net", {CPU: RunData([], artefacts={"a": b"1", "a/b": b"2"})})
    assert list(tmp_path.iterdir()) == []
    update(path, "net", {CPU: run_data()})
    with pytest.raises(StoreError, match="store of network 'net', not of 'other'"):
        update(path, "other", {CPU: run_data()})
    assert update(path, "other", {CPU: run_data()}, renames=True).changed
    assert not update(path, "other", {CPU: run_data()}, renames=True).changed
    with GoldenStore.open(path) as store:
        assert (store.network, store.runs()) == ("other", (CPU,))


def test_an_error_inside_the_records_passes_through(tmp_path: Path) -> None:
    def broken() -> Iterator[Record]:
        yield record(1.0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        update(tmp_path / "x.h5", "net", {CPU: RunData(broken())})
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_run_can_be_replaced_but_not_kept(tmp_path: Path) -> None:
    path, fresh = tmp_path / "x.h5", tmp_path / "y.h5"
    for file in (path, fresh):
        update(file, "net", {CPU: run_data(), ASCEND: run_data(1)})
    with h5py.File(path, "r+") as file:
        at = file["runs/cpu/tensor/index"].id.get_chunk_info(0).byte_offset
    before = bytearray(path.read_bytes())
    before[at] ^= 1
    path.write_bytes(before)
    with pytest.raises(StoreError, match=r"run cpu/tensor: index: "):
        update(path, "net", {ASCEND: run_data(1)})
    assert path.read_bytes() == before
    update(path, "net", {CPU: run_data()})
    assert path.read_bytes() == fresh.read_bytes()


class Pieces(Streamed):
    """Values that come in pieces."""

    def __init__(self, array: np.ndarray[Any, np.dtype[Any]]) -> None:
        self.array = array

    def __call__(self) -> np.ndarray[Any, np.dtype[Any]]:
        return self.array

    def pieces(self) -> Iterator[np.ndarray[Any, np.dtype[Any]]]:
        flat, step = self.array.reshape(-1), 3 * BLOCK
        return (flat[at : at + step].copy() for at in range(0, flat.size, step))


def in_pieces(records: list[Record]) -> list[Record]:
    return [replace(each, values=Pieces(each.values)) for each in records]  # type: ignore[arg-type]


@pytest.mark.parametrize("level", ["tensors", "digest"])
@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_pieces_make_the_file_that_whole_tensors_make(tmp_path: Path, level: Level, compression: Compression) -> None:
    rng = np.random.default_rng(5)
    large = [rng.standard_normal((BLOCK, 4)), rng.integers(0, 9, 5 * BLOCK + 3), np.zeros((0, 3)), np.float32(3)]
    records = [record(array, slot=at) for at, array in enumerate([*large, large[0], large[1].copy(), np.ones(3)])]
    files = []
    for name, given_ in {"whole": records, "pieces": in_pieces(records)}.items():
        files.append(tmp_path / f"{name}.h5")
        result = update(files[-1], "net", {CPU: RunData(given_, level=level)}, compression=compression)
        assert result.objects == (5 if level == "tensors" else 0)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_pieces_that_are_not_the_tensor_are_refused(tmp_path: Path) -> None:
    whole = record(np.zeros(9), "Default/Op-op0")
    for wrong, says in [
        (replace(whole, values=Pieces(np.zeros(8))), r"Op-op0 output\.0: it should have shape \[9\], but has 8"),
        (replace(whole, values=Pieces(np.zeros(9)), digest=bytes(16)), "but the record says 0000"),
        (replace(whole, values=Pieces(np.zeros(9, np.float32))), "Float64"),
    ]:
        with pytest.raises(StoreError, match=says):
            update(tmp_path / "x.h5", "net", {CPU: RunData([wrong])})
        assert list(tmp_path.iterdir()) == []
