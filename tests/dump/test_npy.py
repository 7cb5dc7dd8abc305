"""``.npy`` bytes: real headers reproduced, every dtype loads with ``numpy.load``."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness import dtypes
from harness.dump import npy
from tests.dump.build import DATA

HEADERS: list[str] = json.loads((DATA / "npy_headers.json").read_text())


def load(array: npy.Array, dtype: dtypes.DType) -> npy.Array:
    loaded: npy.Array = np.load(io.BytesIO(b"".join(npy.encode(array, dtype))), allow_pickle=False)
    return loaded


@pytest.mark.parametrize("header", HEADERS)
def test_real_headers(header: str) -> None:
    found = re.search(r"'descr': '([^']+)'.*'shape': \((.*?)\)", header)
    assert found is not None
    shape = tuple(int(d) for d in found[2].split(",") if d)
    assert npy.header(found[1], shape) == header.encode("latin-1")


@given(st.sampled_from(dtypes.ALL), st.lists(st.integers(0, 2**40), max_size=60))
def test_prefix_is_aligned_and_says_its_length(dtype: dtypes.DType, shape: list[int]) -> None:
    header = npy.header(dtype.descr, tuple(shape))
    assert len(header) % 64 == 0
    assert header.endswith(b" \n")
    assert len(header) == 10 + int.from_bytes(header[8:10], "little")


def test_a_very_long_header_is_version_2() -> None:
    header = npy.header("<f4", (1,) * 40_000)
    assert header[6:8] == b"\x02\x00"
    assert len(header) % 64 == 0
    assert len(header) == 12 + int.from_bytes(header[8:12], "little")


arrays: st.SearchStrategy[tuple[Any, dtypes.DType]] = st.sampled_from(
    [dtype for dtype in dtypes.ALL if dtype is not dtypes.bfloat16]
).flatmap(lambda dtype: st.tuples(hnp.arrays(dtype.numpy, hnp.array_shapes(min_dims=0, max_side=4)), st.just(dtype)))


@given(arrays, st.sampled_from(["C", "F", "reversed", "swapped"]))
def test_every_dtype_and_layout_loads_with_numpy(pair: tuple[npy.Array, dtypes.DType], layout: str) -> None:
    array, dtype = pair
    expected = array.copy()
    if layout == "F" and array.ndim:
        array = np.asfortranarray(array)
    elif layout == "reversed" and array.ndim:
        array, expected = array[::-1], expected[::-1]
    elif layout == "swapped":
        array = array.astype(array.dtype.newbyteorder())
    loaded = load(array, dtype)
    assert loaded.dtype == dtype.numpy
    assert loaded.shape == expected.shape
    assert loaded.tobytes() == np.ascontiguousarray(expected).tobytes()


@given(hnp.arrays(np.uint16, hnp.array_shapes(min_dims=0, max_side=5)))
def test_bfloat16_loads_as_float32_bit_for_bit(words: npy.Array) -> None:
    loaded = load(words.view(dtypes.bfloat16.numpy), dtypes.bfloat16)
    assert loaded.dtype == np.float32
    assert loaded.shape == words.shape
    bits = loaded.reshape(-1).view(np.uint32)
    assert np.array_equal(bits >> 16, words.reshape(-1))
    assert not np.any(bits & 0xFFFF)


def test_data_is_not_copied() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.shares_memory(np.frombuffer(npy.encode(array, dtypes.float32)[1], np.uint8), array)
