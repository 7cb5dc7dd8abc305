"""Products and powers of matrices."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError, SettingTypeError
from harness.framework import ops as _ops
from harness.framework.numpy.create import asarray, eye
from harness.framework.numpy.maths import dot

#: looks its names up when they are used
ops: Any = _ops

__all__ = ["matrix_power", "multi_dot"]


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
