"""Rounds a result once to its dtype: nearest, ties to even."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType

Array = np.ndarray[Any, np.dtype[Any]]


def finish(x: Any, dtype: DType) -> Array:
    """Rounds a kernel's result once to ``dtype`` (nearest, ties to even); C-contiguous."""
    array = np.asarray(x)
    if array.dtype == dtype.numpy:
        return array if array.flags.c_contiguous else np.array(array, order="C")
    with np.errstate(all="ignore"):
        if _is_rounded_twice(array.dtype, dtype):
            return _to_odd(array).astype(dtype.numpy, order="C")
        if dtype.kind in "iu" and array.dtype.kind == "f":
            return _to_integer(array, dtype)
        return array.astype(dtype.numpy, order="C")


def finish_into(target: Array, x: Array) -> None:
    """Writes ``x`` into ``target``, rounded as ``finish`` does it; without an array between, if numpy rounds once."""
    dtype = dtypes.from_numpy(target.dtype)
    if target.dtype.kind not in "fc" or _is_rounded_twice(x.dtype, dtype):
        target[...] = finish(x, dtype)
        return
    with np.errstate(all="ignore"):
        target[...] = x


def _is_rounded_twice(given: np.dtype[Any], dtype: DType) -> bool:
    """Whether numpy converts through float32, and so rounds twice."""
    if dtype is dtypes.float16:
        return given.kind == "f" and given.itemsize > 8
    return dtype is dtypes.bfloat16 and given.kind in "fiu"


def _to_odd(array: Array) -> Array:
    """float32 rounded to odd: what is not exact gets an odd last bit, so that rounding on to a dtype of at least two
    bits less is the only rounding."""
    is_exact_in_float64 = array.dtype.itemsize < 8 or array.dtype == np.float64
    exact = array.astype(np.float64 if is_exact_in_float64 else np.longdouble)
    near = exact.astype(np.float32)
    bits = np.atleast_1d(near).view(np.uint32).copy()
    back = np.atleast_1d(near.astype(exact.dtype))
    source = np.atleast_1d(exact)
    inexact = (back != source) & np.isfinite(back) & np.isfinite(source)
    too_far = inexact & (np.abs(back) > np.abs(source))
    bits[too_far] -= 1
    bits[inexact] |= 1
    return bits.view(np.float32).reshape(near.shape)


def _to_integer(array: Array, dtype: DType) -> Array:
    """Truncation toward zero, as x86 converts: through int64, so out-of-range values wrap the same way everywhere."""
    if dtype is dtypes.uint64:
        big = array >= 2.0**63
        low = np.where(big, array - 2.0**63, array).astype(np.int64).astype(np.uint64)
        return np.array(np.where(big, low + np.uint64(2**63), low), order="C")
    return np.array(array.astype(np.int64).astype(dtype.numpy), order="C")
