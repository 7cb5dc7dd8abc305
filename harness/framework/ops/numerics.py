"""Arithmetic that gives the same bits on every processor.

Elementwise IEEE operations do. Sums do only in a fixed order, so every reduction here halves one axis with elementwise
additions. Sums of products are rounded once from their exact value (``products``). Transcendental functions are
evaluated in the widest type of the C library, whose code does not depend on SIMD extensions, and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.framework.ops import exact, products
from harness.framework.ops.rounding import finish as finish

Array = np.ndarray[Any, np.dtype[Any]]

#: products held at once by ``in_order``: 32 MiB of float64
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
    result = _folded(acc)
    return result + tail[0] if tail.size else result


def _folded(acc: Array) -> Array:
    """``fold`` from its second step on, in which an odd one is added at once."""
    n = acc.shape[0]
    while n > 1:
        half = n // 2
        odd = acc[2 * half :].copy()
        acc = acc[:half] + acc[half : 2 * half]
        if odd.size:
            acc[0] += odd[0]
        n = half
    result: Array = acc[0]
    return result


def total(x: Array, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
    """Sum of ``x`` (as given, make it ``wide`` first) over ``axis`` in a fixed order."""
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    axes = tuple(a % x.ndim for a in axes) if x.ndim else ()
    rest = [a for a in range(x.ndim) if a not in axes]
    shape = x.shape
    while axes[:1] == (0,) and x.shape[0] and x.shape[0] % 2 == 0:
        # The same additions as in ``fold``, before anything is moved.
        half = x.shape[0] // 2
        x = x[:half] + x[half:]
    moved = x.transpose([*axes, *rest]).reshape(prod(x.shape[a] for a in axes), *(x.shape[a] for a in rest))
    out = fold(moved) if x.shape == shape or not moved.shape[0] else _folded(moved)
    return out.reshape([1 if a in axes else n for a, n in enumerate(shape)]) if keepdims else out


def mean(
    x: Array, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, given: Array | None = None
) -> Array:
    """Mean of ``x`` over ``axis`` (``total`` divided by the count); ``given`` is what the sum is ``held`` for."""
    out = total(x, axis, keepdims)
    if given is not None:
        out = held(out, given)
    return out / max(1, x.size // max(1, out.size))


def held(x: Array, given: Array) -> Array:
    """``x`` (float64) as a kernel holds it on the way to its result: what float32 cannot hold is infinite, unless the
    kernel was ``given`` float64.

    Source: MindSpore 2.10.0 CPU, measured.
    """
    if given.dtype.kind in "iubc" or given.dtype.itemsize > 4:
        return x
    with np.errstate(all="ignore"):
        beyond = np.isinf(x.astype(np.float32))
    return np.where(beyond, np.copysign(np.inf, x), x) if beyond.any() else x


def matmul(a: Array, b: Array, dtype: DType | None = None) -> Array:
    """``a @ b`` for (..., m, k) and (..., k, n), each sum rounded once from its exact value.

    Args:
        dtype: what it is rounded to; None: float64 (complex128 for complex).

    Returns:
        (..., m, n). Integers give integers of their own dtype, which wrap. Results of a row or column with numbers that
        are not finite are summed in float64 in a fixed order instead.
    """
    if a.dtype.kind in "iub":
        whole: Array = np.matmul(a, b)
        return whole
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if a.ndim > 2 and prod(b.shape[:-2]) == 1:  # one matrix for all
        rows = matmul(a.reshape(prod(a.shape[:-1]), a.shape[-1]), b.reshape(b.shape[-2:]), dtype)
        return rows.reshape(*lead, a.shape[-2], b.shape[-1])
    count = prod(lead)
    a = np.broadcast_to(a, (*lead, *a.shape[-2:])).reshape(count, *a.shape[-2:])
    b = np.broadcast_to(b, (*lead, *b.shape[-2:])).reshape(count, *b.shape[-2:])
    known_of = known(a, b)
    out = stacked(wide(a), wide(b), dtype, known_of)
    return out.reshape(*lead, *out.shape[1:])


def known(*factors: Array) -> products.Single | None:
    """How ``products`` may sum products of numbers from ``factors``; None if nothing is known about them."""
    if any(f.dtype.kind == "c" for f in factors) or not all(bool(np.isfinite(f).all()) for f in factors):
        return None
    if max(f.itemsize for f in factors) < 8:
        return exact.of_exact_products
    return exact.of_products if all(products.is_safe(wide(f)) for f in factors) else None


def stacked(a: Array, b: Array, dtype: DType | None, known: products.Single | None, signed: bool = True) -> Array:
    """``matmul`` of stacks (g, m, k) and (g, k, n) in float64, or complex128."""
    if known is not None:
        return products.of_matrices(a, b, dtype, known, signed)
    if a.dtype.kind == "c" or b.dtype.kind == "c":
        return _around(_complex, a.astype(np.complex128), b.astype(np.complex128), dtype)
    return _around(products.of_any, a, b, dtype)


def _around(product: Callable[..., Array], a: Array, b: Array, dtype: DType | None) -> Array:
    """``product`` of stacks of matrices; values that are not finite are summed in a fixed order."""
    rows, columns = (np.asarray(~np.isfinite(x).all(axis)) for x, axis in ((a, 2), (b, 1)))
    if not (rows.any() or columns.any()):
        return product(a, b, dtype)
    out = product(np.where(rows[:, :, None], 0, a), np.where(columns[:, None], 0, b), dtype)
    for i in range(len(a)):
        row, column = rows[i].nonzero()[0], columns[i].nonzero()[0]
        out[i, row] = _rounded(in_order(a[i, row], b[i]), dtype)
        out[i, :, column] = _rounded(in_order(a[i], b[i][:, column]), dtype).T
    return one_nan(out)


def one_nan(x: Array) -> Array:
    """``x`` with the same bits in each NaN (sign 0, quiet), in place: which NaN a sum keeps depends on numpy's
    build."""
    for part in (x.real, x.imag) if x.dtype.kind == "c" else (x,):
        part[np.isnan(part)] = np.nan
    return x


def _rounded(x: Array, dtype: DType | None) -> Array:
    return x if dtype is None else finish(x, dtype)


def in_order(a: Array, b: Array) -> Array:
    """``a @ b`` of two matrices as ``fold`` adds: rounded at each addition, NaN and infinity as they come."""
    out = np.empty((a.shape[0], b.shape[1]), np.result_type(a, b))
    rows = max(1, _BLOCK // max(1, b.size))
    for at in range(0, len(a), rows):
        out[at : at + rows] = fold(a[at : at + rows].T[:, :, None] * b[:, None, :])
    return out


def _complex(a: Array, b: Array, dtype: DType | None) -> Array:
    """Real and imaginary part as sums of their own, of twice as many products."""
    half = dtypes.float32 if dtype is dtypes.complex64 else None
    real = products.of_any(np.concatenate([a.real, -a.imag], 2), np.concatenate([b.real, b.imag], 1), half)
    other = products.of_any(np.concatenate([a.real, a.imag], 2), np.concatenate([b.imag, b.real], 1), half)
    out = np.empty(real.shape, np.complex128 if half is None else np.complex64)
    out.real, out.imag = real, other
    return out


def divide_toward_zero(x: Array, y: Array) -> Array:
    """Integer quotient rounded toward zero, as C divides; over zero as ``floor_divide``."""
    floor = floor_divide(x, y)
    inexact = (floor * y != x) & ((x < 0) != (y < 0)) & (y != 0)
    return np.asarray(floor + inexact.astype(x.dtype))


def floor_divide(x: Array, y: Array) -> Array:
    """Integer quotient rounded down; over zero the dtype's highest or lowest value by the sign of ``x``, 0 for 0/0, and
    of bools always ``x``.

    Source: MindSpore 2.10.0 CPU, measured.
    """
    if x.dtype.kind == "b":
        return x | np.zeros_like(y)
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
