"""Tensors of one value take next to nothing in any store, and come back bit for bit."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.store import GoldenStore, RunData, RunId, rewrite, update
from harness.store.layout.objects import CONSTANT_BYTES, Constant, to_stored
from tests.store.helpers import record

RUN = RunId("cpu", "tensor")
DTYPES = ("Float32", "Float64", "Float16", "Int8", "Int64", "Bool", "Complex128", "BFloat16")


def numpy_of(name: str) -> np.dtype:
    from harness import dtypes

    return dtypes.by_name(name).numpy


def written(path: Path, arrays: list[tuple[str, np.ndarray]]) -> dict[str, np.ndarray]:
    records = [record(each, f"Default/Op-op{at}") for at, (_, each) in enumerate(arrays)]
    update(path, "Net", {RUN: RunData(records)})
    with GoldenStore.open(path) as store:
        assert not store.verify()
        return {each.key.operator: each.load() for each in store.run(*RUN).records()}


@pytest.mark.parametrize("name", DTYPES)
def test_a_tensor_of_one_value_takes_little(tmp_path: Path, name: str) -> None:
    ones = np.ones((300, 300), numpy_of(name))
    (back,) = written(tmp_path / "net.h5", [(name, ones)]).values()
    assert back.tobytes() == ones.tobytes()
    assert (tmp_path / "net.h5").stat().st_size < 14_000


@pytest.mark.parametrize("value", [np.nan, -0.0, np.inf, 1e-40])
def test_any_value(tmp_path: Path, value: float) -> None:
    given_ = np.full((80, 80), value, np.float32)
    (back,) = written(tmp_path / "net.h5", [("Float32", given_)]).values()
    assert back.tobytes() == given_.tobytes()
    with h5py.File(tmp_path / "net.h5") as file:
        (found,) = file["objects"].values()
        assert found[()].tobytes() == given_.tobytes()


@given(
    count=st.integers(0, 40_000),
    other=st.integers(0, 40_000),
    width=st.sampled_from([1, 2, 4, 8]),
    cut=st.integers(1, 9_000),
)
def test_one_other_element_is_seen(count: int, other: int, width: int, cut: int) -> None:
    """In one piece or in several."""
    array = np.full(count, 3, f"<u{width}")
    whole, one = Constant(width), Constant(width)
    whole.take(array)
    for at in range(0, count, cut):
        one.take(array[at : at + cut])
    large = array.nbytes >= CONSTANT_BYTES
    assert whole.is_packed((count,)) == one.is_packed((count,)) == large
    if not large:
        return
    name = {1: "UInt8", 2: "UInt16", 4: "UInt32", 8: "UInt64"}[width]
    stored = to_stored(array, name, "none")
    assert stored.packed
    assert stored.raw == one.packed(count)
    assert np.array_equal(stored.array(), array)
    array[other % count] = 4
    assert not to_stored(array, name, "none").packed
    assert np.array_equal(to_stored(array, name, "none").array(), array)


def test_zeros_of_both_signs_are_two_values(tmp_path: Path) -> None:
    mixed = np.zeros(5000, np.float32)
    mixed[7] = -0.0
    (back,) = written(tmp_path / "net.h5", [("Float32", mixed)]).values()
    assert back.tobytes() == mixed.tobytes()


def test_writing_again_and_changing_the_compression_changes_no_value(tmp_path: Path) -> None:
    path = tmp_path / "net.h5"
    arrays = [("Float32", np.ones((90, 90), np.float32)), ("Float32", np.arange(8100, dtype=np.float32))]
    first = written(path, arrays)
    before = path.read_bytes()
    written(path, arrays)
    assert path.read_bytes() == before
    for compression in ("gzip", "none"):
        rewrite(path, compression=compression)
        with GoldenStore.open(path) as store:
            assert not store.verify()
            for each in store.run(*RUN).records():
                assert each.load().tobytes() == first[each.key.operator].tobytes()
    assert path.read_bytes() == before
