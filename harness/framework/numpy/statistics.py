"""Covariance, and reductions that leave NaN out."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework import ops as _ops
from harness.framework.numpy.create import asarray
from harness.framework.numpy.maths import clip
from harness.framework.numpy.promotion import cast_if
from harness.framework.numpy.reductions import average, cumsum, known, nanmean
from harness.framework.numpy.shapes import concatenate
from harness.framework.ops.functions.shape import cast

#: looks its names up when they are used
ops: Any = _ops

__all__ = ["corrcoef", "cov", "nancumsum", "nanstd", "nanvar"]


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
