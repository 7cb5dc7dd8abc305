"""Distance in units in the last place: how many representable numbers lie between two, plus one."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.dtypes import DType

Array = np.ndarray[Any, np.dtype[Any]]


def ulp_distance(expected: Array, found: Array, dtype: DType) -> Array:
    """Steps between two arrays of floating-point or complex numbers: uint64 [n]; 0.0 and -0.0 are 0 apart.

    For complex numbers, the larger distance of the two parts. Meaningless if either is NaN.

    Args:
        expected, found: 1-D, C-contiguous, of ``dtype.numpy``.
        dtype: their dtype, of kind ``f`` or ``c``.
    """
    if dtype.kind == "c":
        bits = expected.itemsize * 4
        parts = _distance(_unsigned(expected, bits), _unsigned(found, bits), bits)
        return np.asarray(parts.reshape(-1, 2).max(axis=1))
    bits = expected.itemsize * 8
    return _distance(_unsigned(expected, bits), _unsigned(found, bits), bits)


def _unsigned(array: Array, bits: int) -> Array:
    return array.view(f"u{bits // 8}").astype(np.uint64)


def _distance(expected: Array, found: Array, bits: int) -> Array:
    a, b = _rank(expected, bits), _rank(found, bits)
    return np.maximum(a, b) - np.minimum(a, b)


def _rank(words: Array, bits: int) -> Array:
    """Position on the number line, shifted to be positive: sign and magnitude to an offset."""
    middle = np.uint64(1 << (bits - 1))
    magnitude = words & (middle - np.uint64(1))
    return np.where(words >= middle, middle - magnitude, middle + magnitude)
