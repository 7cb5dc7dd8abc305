"""Numbers and shapes that scripts use less often."""

from __future__ import annotations

from typing import Any

import numpy

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework import ops as _ops
from harness.framework.numpy.create import asarray, eye
from harness.framework.numpy.maths import clip, dot
from harness.framework.numpy.promotion import cast_if
from harness.framework.numpy.reductions import average, cumsum, known, nanmean
from harness.framework.numpy.shapes import concatenate
from harness.framework.ops.functions.shape import cast
from harness.framework.tensor import Tensor

#: looks its names up when they are used
ops: Any = _ops

__all__ = [
    "around", "array_str", "cbrt", "copy", "copysign", "corrcoef", "cov", "diag_indices", "diagflat", "divmod",
    "isneginf", "isposinf", "isscalar", "ix_", "logaddexp", "logaddexp2", "matrix_power", "multi_dot", "nancumsum",
    "nanstd", "nanvar", "round", "signbit", "sometrue", "tril_indices_from", "triu_indices_from", "unravel_index",
]  # fmt: skip


def around(a: Any, decimals: int = 0) -> Any:
    """``a`` rounded to ``decimals`` digits after the point."""
    given = asarray(a)
    if isinstance(decimals, bool) or not isinstance(decimals, int):
        raise SettingTypeError(f"numpy.around: decimals must be an int, got {decimals!r}")
    if decimals < 0:
        raise SettingError(f"numpy.around: decimals must be at least 0, got {decimals}")
    return ops.round(given) if not decimals else ops.round(given * 10**decimals) / 10**decimals


round = around


def cbrt(x: Any, dtype: Any = None) -> Any:
    """The third root."""
    given = asarray(x)
    wide = given if given.dtype is dtypes.float64 else cast(given, dtypes.float32)
    size = ops.abs(wide)
    return cast_if(size / wide * ops.pow(size, 1.0 / 3.0), dtype)


def copysign(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """The size of ``x1`` with the sign of ``x2``; no sign is negative 0's."""
    first, second = asarray(x1), asarray(x2)
    if "b" in (first.dtype.kind, second.dtype.kind):
        raise SettingTypeError("numpy.copysign: Bool has no sign")
    size = ops.abs(first)
    return cast_if(ops.where(second < 0, -size, size), dtype)


def signbit(x: Any, dtype: Any = None) -> Any:
    """Whether each element is below 0."""
    if dtype not in (None, dtypes.bool_):
        raise SettingTypeError(f"numpy.signbit: the result is Bool, not {dtype!r}")
    return asarray(x) < 0


def isneginf(x: Any) -> Any:
    """Whether each element is minus infinity."""
    given = asarray(x)
    return ops.logical_and(ops.isinf(given), given < 0)


def isposinf(x: Any) -> Any:
    """Whether each element is infinity."""
    given = asarray(x)
    return ops.logical_and(ops.isinf(given), given > 0)


def isscalar(element: Any) -> bool:
    """Whether it is a number or a text of Python's."""
    return isinstance(element, (int, float, bool, str))


def logaddexp(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """log(e ** x1 + e ** x2), which is infinite where a power is."""
    return cast_if(ops.log(ops.exp(asarray(x1)) + ops.exp(asarray(x2))), dtype)


def logaddexp2(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """log2(2 ** x1 + 2 ** x2)."""
    return cast_if(ops.log2(ops.pow(2, asarray(x1)) + ops.pow(2, asarray(x2))), dtype)


def divmod(x1: Any, x2: Any, dtype: Any = None) -> tuple[Any, Any]:
    """The whole quotient, and the rest."""
    first, second = asarray(x1), asarray(x2)
    return cast_if(ops.floor_divide(first, second), dtype), cast_if(ops.floor_mod(first, second), dtype)


def matrix_power(a: Any, n: int) -> Any:
    """A whole power of square matrices."""
    given = asarray(a)
    if isinstance(n, bool) or not isinstance(n, int):
        raise SettingTypeError(f"numpy.matrix_power: n must be an int, got {n!r}")
    if len(given.shape) < 2 or given.shape[-1] != given.shape[-2] or n < 0:
        shown = f"{list(given.shape)} and {n}"
        raise SettingError(f"numpy.matrix_power: square matrices and n of at least 0 are needed, got {shown}")
    if not n:
        return ops.broadcast_to(eye(given.shape[-1], dtype=given.dtype), given.shape)
    out = given
    for _ in range(n - 1):
        out = ops.matmul(out, given)
    return out


def multi_dot(arrays: Any) -> Any:
    """The product of several matrices, from the left."""
    if len(arrays) < 2:
        raise SettingError("numpy.multi_dot: at least two arrays are needed")
    out = asarray(arrays[0])
    for each in arrays[1:]:
        out = dot(out, each)
    return out


def _rows(m: Any, rowvar: bool) -> Any:
    given = cast(asarray(m), dtypes.float32)
    if len(given.shape) > 2:
        raise SettingError(f"numpy.cov: at most two dimensions, got {list(given.shape)}")
    given = given.reshape((1, -1)) if len(given.shape) < 2 else given
    return given if rowvar or given.shape[0] == 1 else given.T


def _whole_weights(given: Any) -> Any:
    weights = asarray(given)
    if weights.dtype.kind not in "iu":
        raise SettingTypeError(f"numpy.cov: weights must be whole numbers, got {weights.dtype}")
    return cast(weights, dtypes.float32)


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    dtype: Any = None,
) -> Any:
    """The covariances of rows (columns without ``rowvar``), each observation weighted."""
    rows = _rows(m, rowvar)
    rows = rows if y is None else concatenate((rows, _rows(y, rowvar)), axis=0)
    less = (0 if bias else 1) if ddof is None else ddof
    given = [_whole_weights(w) for w in (fweights, aweights) if w is not None]
    weights = given[0] * given[1] if len(given) == 2 else given[0] if given else None
    apart = rows - ops.expand_dims(average(rows, axis=1, weights=weights), -1)
    if weights is None:
        count: Any = rows.shape[1] - less
        heavy = apart
    else:
        total = ops.sum(weights)
        spread = ops.sum(weights * given[-1]) / total if aweights is not None else 1
        count, heavy = total - less * spread, apart * weights
    return cast_if(ops.squeeze(ops.matmul(apart, heavy.T) / count), dtype)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Any:
    """The correlations of rows (columns without ``rowvar``)."""
    found = cov(x, y, rowvar)
    if not found.shape:
        return found / found
    size = ops.sqrt(ops.diagonal(found))
    found = found / ops.expand_dims(size, -1) / ops.expand_dims(size, 0)
    return cast_if(clip(found, -1, 1), dtype)


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Any:
    """Sums so far; NaN counts as 0."""
    given = asarray(a)
    return cumsum(ops.where(ops.isnan(given), ops.zeros_like(given), given), axis, dtype)


def nanvar(a: Any, axis: Any = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """Variances of what is not NaN, as Float32."""
    given = asarray(a)
    axes = tuple(range(len(given.shape))) if axis is None else axis
    apart = ops.pow(given - nanmean(given, axis, None, True), 2)
    total = ops.sum(ops.where(ops.isnan(apart), ops.zeros_like(apart), apart), axes, keepdims)
    return cast(total / (known(given, axis, keepdims) - ddof), dtypes.float32 if dtype is None else dtype)


def nanstd(a: Any, axis: Any = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """Standard deviations of what is not NaN, as Float32."""
    return cast_if(ops.sqrt(nanvar(a, axis, None, ddof, keepdims)), dtype)


def sometrue(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether any element over ``axis`` is true."""
    given = asarray(a)
    axes = tuple(range(len(given.shape))) if axis is None else axis
    return ops.any(cast(given, dtypes.bool_), axes, keepdims)


def copy(a: Any) -> Any:
    """A tensor of its own with the same values."""
    return asarray(a).copy()


def array_str(a: Any) -> str:
    """The values as text, without commas."""
    return str(asarray(a).asnumpy())


def diagflat(v: Any, k: int = 0) -> Any:
    """A matrix with the elements of ``v`` on its ``k``-th diagonal."""
    if not isinstance(v, Tensor):
        raise SettingTypeError(f"numpy.diagflat: a tensor is needed, got {type(v).__name__}")
    return ops.diag_embed(v.reshape((-1,)), k)


def _indices(rows: Any) -> tuple[Any, ...]:
    return tuple(Tensor(row.astype(numpy.int32)) for row in rows)


def diag_indices(n: int, ndim: int = 2) -> tuple[Any, ...]:
    """The coordinates of the diagonal of a cube of ``ndim`` axes."""
    if not isinstance(n, int) or not isinstance(ndim, int):
        raise SettingTypeError(f"numpy.diag_indices: two ints are needed, got {n!r} and {ndim!r}")
    return _indices([numpy.arange(n)] * ndim)


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Any, ...]:
    """The coordinates of the lower triangle of a matrix like ``arr``."""
    return _indices(numpy.tril_indices(arr.shape[0], k, arr.shape[1]))


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Any, ...]:
    """The coordinates of the upper triangle of a matrix like ``arr``."""
    return _indices(numpy.triu_indices(arr.shape[0], k, arr.shape[1]))


def ix_(*args: Any) -> tuple[Any, ...]:
    """Lines, each along an axis of its own."""
    shapes = [tuple(-1 if k == at else 1 for k in range(len(args))) for at in range(len(args))]
    if any(len(each.shape) != 1 for each in args):
        raise SettingError("numpy.ix_: tensors of one dimension are needed")
    return tuple(each.reshape(shape) for each, shape in zip(args, shapes, strict=True))


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Any, ...]:
    """The coordinates in ``shape`` of places in the flat tensor; what lies outside is brought inside."""
    if order not in ("C", "F"):
        raise SettingError(f"numpy.unravel_index: order must be 'C' or 'F', got {order!r}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    total = int(numpy.prod(sizes))
    rest = ops.clip(asarray(indices), -total, total - 1) % total
    found = []
    for size in sizes[::-1] if order == "C" else sizes:
        found.append(rest % size)
        rest = rest // size
    return tuple(found[::-1] if order == "C" else found)
