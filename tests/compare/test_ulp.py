"""Distance in units in the last place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.compare.ulp import ulp_distance

FLOATS = [d for d in dtypes.ALL if d.kind == "f"]


@pytest.mark.parametrize("dtype", [d for d in FLOATS if d.itemsize == 2], ids=str)
def test_sixteen_bits_completely(dtype: dtypes.DType) -> None:
    """All finite numbers in order are one step apart, but for the two zeros."""
    every = np.arange(2**16, dtype=np.uint16).view(dtype.numpy)
    every = every[np.array([math.isfinite(float(value)) for value in every])]
    ordered = every[np.argsort(every.astype(np.float64), kind="stable")]
    steps = ulp_distance(ordered[:-1].copy(), ordered[1:].copy(), dtype)
    zeros = ordered[:-1].astype(np.float64) == ordered[1:].astype(np.float64)
    assert zeros.sum() == 1
    assert np.array_equal(steps, np.where(zeros, 0, 1))


@pytest.mark.parametrize("dtype", FLOATS[-3:], ids=str)
@given(value=st.floats(width=16, allow_nan=False, allow_infinity=False), steps=st.integers(0, 20))
def test_counts_steps(dtype: dtypes.DType, value: float, steps: int) -> None:
    start = end = np.array([value], dtype.numpy)
    for _ in range(steps):
        end = np.nextafter(end, np.array([np.inf], dtype.numpy))
    assert ulp_distance(start, end, dtype)[0] == steps == ulp_distance(end, start, dtype)[0]


def test_the_whole_line_does_not_overflow() -> None:
    top = np.array([np.finfo(np.float64).max])
    assert int(ulp_distance(-top, top, dtypes.float64)[0]) == 2 * int(top.view(np.uint64)[0])


@pytest.mark.parametrize("dtype", [dtypes.complex64, dtypes.complex128], ids=str)
def test_complex_takes_the_larger_part(dtype: dtypes.DType) -> None:
    one: Any = np.array([1 + 1j, 1 + 1j], dtype.numpy)
    part = one.real.dtype
    other = one.copy()
    other[0] = complex(one[0].real, np.nextafter(part.type(1), part.type(2)))
    assert ulp_distance(one, other, dtype).tolist() == [1, 0]
