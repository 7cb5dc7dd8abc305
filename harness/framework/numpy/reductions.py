"""Numbers over axes."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.framework import ops as _ops
from harness.framework.numpy.create import asarray
from harness.framework.numpy.promotion import cast_if, full_of
from harness.framework.ops.functions.shape import asked_dtype, cast

#: looks its names up when they are used
ops: Any = _ops

__all__ = [
    "amax", "amin", "argmax", "argmin", "average", "count_nonzero", "cumprod", "cumsum", "diff", "max", "mean", "min",
    "nanmax", "nanmean", "nanmin", "nansum", "ptp", "size", "sometrue", "std", "sum", "var",
]  # fmt: skip


def _axes(x: Any, axis: Any) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(len(x.shape)))
    return (axis,) if isinstance(axis, int) else tuple(axis)


def sum(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
    """Sums over ``axis`` (None: all axes), as ``Tensor.sum`` has them."""
    return asarray(a).sum(axis, dtype, keepdims, initial)


def mean(a: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
    """Means over ``axis``; ``dtype=float`` is Float64 here (measured), elsewhere Float32."""
    given = asarray(a)
    dtype = None if dtype is None else asked_dtype(dtype)
    return cast_if(given if not given.shape else ops.mean(given, _axes(given, axis), keepdims), dtype)


def average(x: Any, axis: Any = None, weights: Any = None, returned: bool = False) -> Any:
    """Means, each element weighted by ``weights``; with ``returned`` the weights' sums, too."""
    given = asarray(x)
    if weights is None:
        result = mean(given, axis)
        total = full_of(result, given.size // result.size)
        return (result, total) if returned else result
    weight = asarray(weights)
    if weight.shape != given.shape:
        shape = tuple(n if at == (axis or 0) % len(given.shape) else 1 for at, n in enumerate(given.shape))
        weight = ops.broadcast_to(weight.reshape(shape), given.shape)
    total = sum(weight, axis)
    result = sum(given * weight, axis) / total
    return (result, total) if returned else result


def amax(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    """The largest over ``axis``, of those where ``where`` holds and ``initial``."""
    return _extreme(ops.amax, ops.maximum, a, axis, keepdims, initial, where)


def amin(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    """The smallest over ``axis``, of those where ``where`` holds and ``initial``."""
    return _extreme(ops.amin, ops.minimum, a, axis, keepdims, initial, where)


max, min = amax, amin


def _extreme(over: Any, of_two: Any, a: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    given = asarray(a)
    if where is not True and initial is not None:
        given = ops.where(asarray(where), given, full_of(given, initial))
    result = over(given, _axes(given, axis), keepdims) if given.shape else given
    return result if initial is None else of_two(result, asarray(initial, result.dtype))


def ptp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest minus the smallest."""
    return amax(x, axis, keepdims) - amin(x, axis, keepdims)


def var(x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """Mean squares of the distances from the mean, as ``Tensor.var`` has them; ``ddof`` less in the divisor."""
    return asarray(x).var(axis, ddof, keepdims)


def std(x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """The root of ``var``."""
    return asarray(x).std(axis, ddof, keepdims)


def _reduced(a: Any, axis: Any, keepdims: bool) -> Any:
    wide = a if a.dtype.kind in "fc" else cast(a, dtypes.int64)
    return wide.sum(axis=_axes(wide, axis), keepdims=keepdims) if wide.shape else wide


def nansum(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Sums without NaN, in the tensor's dtype."""
    given = asarray(a)
    shown = given if given.dtype.kind in "biu" else ops.where(ops.isnan(given), full_of(given, 0), given)
    return cast(_reduced(shown, axis, keepdims), given.dtype if dtype is None else dtype)


def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """``mean`` without NaN."""
    given = asarray(a)
    found = nansum(given, axis, None, keepdims) / known(given, axis, keepdims)
    return cast(found, dtypes.float32) if dtype is None and not given.dtype.is_floating else cast_if(found, dtype)


def known(given: Any, axis: Any, keepdims: bool) -> Any:
    """How many are not NaN, as Float32; of bools whether there are any (measured: they are counted as bools)."""
    there = ops.logical_not(ops.isnan(given))
    counted = _reduced(cast(there, dtypes.float32), axis, keepdims)
    return ops.minimum(counted, 1.0) if given.dtype is dtypes.bool_ else counted


def nanmax(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """``amax`` without NaN, which counts as the least int of 64 bits (measured)."""
    given = asarray(a)
    return cast_if(amax(ops.where(ops.isnan(given), full_of(given, -(2.0**63)), given), axis, keepdims), dtype)


def nanmin(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """``amin`` without NaN, which counts as the largest int of 64 bits (measured)."""
    given = asarray(a)
    return cast_if(amin(ops.where(ops.isnan(given), full_of(given, 2.0**63), given), axis, keepdims), dtype)


def count_nonzero(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """How many are not 0, as Int32."""
    given = cast(ops.not_equal(asarray(x), 0), dtypes.int32)
    return cast(given.sum(axis=_axes(given, axis), keepdims=keepdims), dtypes.int32)


def argmax(a: Any, axis: int | None = None) -> Any:
    """Where the largest is, as Int64."""
    given = asarray(a)
    return ops.argmax(given.ravel() if axis is None else given, 0 if axis is None else axis)


def argmin(a: Any, axis: int | None = None) -> Any:
    """Where the smallest is, as Int32."""
    given = asarray(a)
    return ops.argmin(given.ravel() if axis is None else given, 0 if axis is None else axis)


def cumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Any:
    """Sums of all up to each element, as ``Tensor.cumsum`` has them."""
    return asarray(a).cumsum(axis, dtype)


#: dtypes of products, by what is multiplied; others keep theirs
_PRODUCTS = {"Int8": dtypes.int32, "Int16": dtypes.int32, "Bool": dtypes.int32, "UInt8": dtypes.uint32,
             "UInt16": dtypes.uint32}  # fmt: skip


def cumprod(a: Any, axis: int | None = None, dtype: Any = None) -> Any:
    """Products of all up to each element, computed in Float32 unless they are Float64."""
    given = asarray(a)
    kind = _PRODUCTS.get(given.dtype.name, given.dtype) if dtype is None else dtype
    wide = given if given.dtype.name == "Float64" else cast(given, dtypes.float32)
    return cast(ops.cumprod(wide.ravel() if axis is None else wide, axis or 0), kind)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours, ``n`` times."""
    parts = [asarray(each) for each in (prepend, a, append) if each is not None]
    given = parts[0] if len(parts) == 1 else ops.concat(parts, axis)
    for _ in range(n):
        count = given.shape[axis]
        given = ops.narrow(given, axis, 1, count - 1) - ops.narrow(given, axis, 0, count - 1)
    return given


def size(a: Any, axis: int | None = None) -> int:
    """How many elements there are, or how many along ``axis``."""
    given = asarray(a)
    return int(given.size if axis is None else given.shape[axis])


def sometrue(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether any element over ``axis`` is true."""
    given = asarray(a)
    axes = tuple(range(len(given.shape))) if axis is None else axis
    return ops.any(cast(given, dtypes.bool_), axes, keepdims)
