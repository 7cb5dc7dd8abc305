"""Indices of diagonals and triangles, places of flat arrays, and choices by index."""

from __future__ import annotations

import math
from typing import Any

import numpy

from harness import dtypes
from harness.errors import SettingError, SettingTypeError, UnsupportedError
from harness.framework import ops as _ops
from harness.framework.numpy.create import asarray
from harness.framework.numpy.promotion import common
from harness.framework.numpy.shapes import broadcast_arrays
from harness.framework.ops.functions.shape import cast
from harness.framework.tensor import Tensor

#: looks its names up when they are used
ops: Any = _ops

__all__ = [
    "choose", "diag_indices", "ix_", "ravel_multi_index", "tril_indices_from", "triu_indices_from", "unravel_index",
]  # fmt: skip


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


def choose(a: Any, choices: Any, mode: str = "clip") -> Any:
    """Each element of the choice that ``a`` names; numbers beyond the last are ``clip``ped or ``wrap``ped."""
    if mode not in ("raise", "wrap", "clip"):
        raise SettingError(f"numpy.choose: mode must be 'raise', 'wrap' or 'clip', got {mode!r}")
    index = asarray(a)
    if index.dtype.kind not in "iu":
        raise SettingError(f"numpy.choose: whole numbers are needed, got {index.dtype}")
    if mode == "raise":
        raise UnsupportedError("numpy.choose: mode 'raise' is not supported, as in MindSpore")
    given = [asarray(each) for each in (choices if hasattr(choices, "__len__") else (choices,))]
    dtype = given[0].dtype
    for each in given[1:]:
        dtype = common(dtype, each.dtype)
    index, *rows = broadcast_arrays(index, *(cast(each, dtype) for each in given))
    count = len(rows)
    index = index % count if mode == "wrap" else ops.clamp(index, 0, count - 1)
    out = rows[0]
    for at in range(1, count):
        out = ops.where(index == at, rows[at], out)
    return out


def ravel_multi_index(multi_index: Any, dims: Any, mode: str = "clip", order: str = "C") -> Any:
    """Places (one line for each axis) of a tensor of ``dims`` as numbers in its flat order, Float32."""
    if mode == "raise":
        raise UnsupportedError("numpy.ravel_multi_index: mode 'raise' is not supported, as in MindSpore")
    if mode not in ("clip", "wrap"):
        raise SettingError(f"numpy.ravel_multi_index: mode must be 'clip' or 'wrap', got {mode!r}")
    if order not in ("C", "F"):
        raise SettingError(f"numpy.ravel_multi_index: order must be 'C' or 'F', got {order!r}")
    lines, sides = asarray(multi_index), tuple(dims) if isinstance(dims, (tuple, list)) else (dims,)
    if len(lines) != len(sides):
        raise SettingError(f"numpy.ravel_multi_index: {len(sides)} lines are needed, got {len(lines)}")
    weights = [math.prod(sides[a + 1 :] if order == "C" else sides[:a]) for a in range(len(sides))]
    total: Any = 0.0
    for at, (side, weight) in enumerate(zip(sides, weights, strict=True)):
        row = cast(lines[at], dtypes.float32)
        total = total + (row % side if mode == "wrap" else ops.clamp(row, 0, side - 1)) * weight
    return total
