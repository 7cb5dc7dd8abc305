"""Arithmetic that gives the same bits on every processor.

Elementwise IEEE operations do; sums do only in a fixed order, so every reduction here halves along one axis with
elementwise additions, and never calls a BLAS. Transcendental functions are evaluated in the widest type of the C
library, whose code does not depend on SIMD extensions, and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType

Array = np.ndarray[Any, np.dtype[Any]]

#: products held at once by ``matmul``: 32 MiB of float64
_BLOCK = 1 << 22


def wide(x: Array) -> Array:
    """``x`` as float64 (complex128 for complex); other dtypes exactly, since each fits."""
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64, copy=False)


def widest(function: Callable[..., Array], *arrays: Array) -> Array:
    """``function`` evaluated in long double over arrays of any real dtype."""
    return np.asarray(function(*(wide(a).astype(np.longdouble) for a in arrays)))


def fold(x: Array) -> Array:
    """Sum over the first axis, halving it with elementwise additions; keeps dtype, shape ``x.shape[1:]``."""
    n = x.shape[0]
    if n == 0:
        return np.zeros(x.shape[1:], x.dtype)
    if n == 1:
        alone: Array = x[0].copy()
        return alone
    half = n // 2
    acc = x[:half] + x[half : 2 * half]
    tail = x[2 * half :]
    n = half
    while n > 1:
        half = n // 2
        odd = acc[2 * half :].copy()
        acc = acc[:half] + acc[half : 2 * half]
        if odd.size:
            acc[0] += odd[0]
        n = half
    result: Array = acc[0]
    return result + tail[0] if tail.size else result


def total(x: Array, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
    """Sum of ``x`` (as given, make it ``wide`` first) over ``axis`` in a fixed order."""
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    axes = tuple(a % x.ndim for a in axes) if x.ndim else ()
    rest = [a for a in range(x.ndim) if a not in axes]
    moved = x.transpose([*axes, *rest]).reshape(prod(x.shape[a] for a in axes), *(x.shape[a] for a in rest))
    out = fold(moved)
    return out.reshape([1 if a in axes else n for a, n in enumerate(x.shape)]) if keepdims else out


def mean(x: Array, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
    """Mean of ``x`` over ``axis`` (``total`` divided by the count)."""
    out = total(x, axis, keepdims)
    return out / max(1, x.size // max(1, out.size))


def matmul(a: Array, b: Array) -> Array:
    """``a @ b`` for (..., m, k) and (..., k, n) in float64 (exact integers for ints) with a fixed summation order."""
    if a.dtype.kind in "iub":
        exact: Array = np.matmul(a, b)
        return exact
    a, b = wide(a), wide(b)
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    count = prod(lead)
    a3 = np.broadcast_to(a, (*lead, m, k)).reshape(count, m, k)
    b3 = np.broadcast_to(b, (*lead, k, n)).reshape(count, k, n)
    out = np.empty((count, m, n), a.dtype)
    rows = max(1, _BLOCK // max(1, k * n))
    for i in range(count):
        right = b3[i][:, None, :]
        for at in range(0, m, rows):
            left = a3[i, at : at + rows].T[:, :, None]
            out[i, at : at + rows] = fold(left * right)
    return out.reshape(*lead, m, n)


def finish(x: Any, dtype: DType) -> Array:
    """Rounds a kernel's result once to ``dtype`` (nearest, ties to even); C-contiguous."""
    array = np.asarray(x)
    if array.dtype == dtype.numpy:
        return array if array.flags.c_contiguous else np.array(array, order="C")
    with np.errstate(all="ignore"):
        if _is_rounded_twice(array.dtype, dtype):
            return np.array(_to_odd(array).astype(dtype.numpy), order="C")
        if dtype.kind in "iu" and array.dtype.kind == "f":
            return _to_integer(array, dtype)
        return np.array(array.astype(dtype.numpy), order="C")


def _is_rounded_twice(given: np.dtype[Any], dtype: DType) -> bool:
    """Whether numpy converts by way of float32, and so rounds a second time."""
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


def divide_toward_zero(x: Array, y: Array) -> Array:
    """Integer quotient rounded toward zero, as C divides; over zero as ``floor_divide``."""
    floor = floor_divide(x, y)
    inexact = (floor * y != x) & ((x < 0) != (y < 0)) & (y != 0)
    return np.asarray(floor + inexact.astype(x.dtype))


def floor_divide(x: Array, y: Array) -> Array:
    """Integer quotient rounded down; over zero the dtype's highest or lowest value by the sign of ``x``, 0 for 0/0.

    Source: MindSpore 2.10.0 CPU, measured.
    """
    if x.dtype.kind == "b":
        return np.floor_divide(x, y).astype(bool)
    ends = np.iinfo(x.dtype)
    over_zero = np.where(x > 0, ends.max, np.where(x < 0, ends.min, 0)).astype(x.dtype)
    return np.where(y == 0, over_zero, np.floor_divide(x, y))


def divide(x: Array, y: Array) -> Array:
    """Floating quotient as MindSpore's CPU gives it (measured): over 0 of either sign, 0 gives NaN, a number above 0
    inf, everything else (NaN too) -inf."""
    if x.dtype.kind == "c":
        return np.asarray(x / y)
    over_zero = np.where(x == 0, np.nan, np.where(x > 0, np.inf, -np.inf))
    return np.where(y == 0, over_zero, x / y)
