"""Copies of tensors, or parameters, with some of their elements changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import SettingError, TraceError
from harness.framework.ops.functions.arithmetic import SUB
from harness.framework.ops.functions.indexing import _scatter as changed
from harness.framework.ops.functions.indexing import tensor_scatter_elements
from harness.framework.ops.functions.shape import axis_of, broadcast_to, expand_dims
from harness.framework.tensor import Tensor, call, is_eager, tensor_method

__all__ = [
    "diag_embed", "diagonal_scatter", "scatter", "scatter_div", "scatter_max", "scatter_min", "scatter_mul",
    "scatter_nd_add", "scatter_nd_div", "scatter_nd_max", "scatter_nd_min", "scatter_nd_mul", "scatter_nd_sub",
    "select_scatter", "slice_scatter", "tensor_scatter_add", "tensor_scatter_div", "tensor_scatter_max",
    "tensor_scatter_min", "tensor_scatter_mul", "tensor_scatter_sub",
]  # fmt: skip

_COPY: dict[str, Any] = {"output_names": ["y"], "input_names": ["input_x", "indices", "updates"]}


@tensor_method("scatter_mul")
def tensor_scatter_mul(input_x: Any, indices: Any, updates: Any) -> Any:
    """``input_x`` with the slices at coordinates multiplied."""
    return call("TensorScatterMul", input_x, indices, updates, **_COPY)


@tensor_method("scatter_div")
def tensor_scatter_div(input_x: Any, indices: Any, updates: Any) -> Any:
    """``input_x`` with the slices at coordinates divided."""
    return call("TensorScatterDiv", input_x, indices, updates, **_COPY)


@tensor_method("scatter_max")
def tensor_scatter_max(input_x: Any, indices: Any, updates: Any) -> Any:
    """``input_x`` with the larger of old and new at coordinates."""
    return call("TensorScatterMax", input_x, indices, updates, **_COPY)


@tensor_method("scatter_min")
def tensor_scatter_min(input_x: Any, indices: Any, updates: Any) -> Any:
    """``input_x`` with the smaller of old and new at coordinates."""
    return call("TensorScatterMin", input_x, indices, updates, **_COPY)


@tensor_method("scatter_sub")
def _scatter_sub(self: Any, indices: Any, updates: Any) -> Any:
    return call("TensorScatterSub", self, indices, updates, **_COPY)


def scatter_mul(input_x: Any, indices: Any, updates: Any) -> Any:
    """Rows of a parameter multiplied, in place."""
    return changed("ScatterMul", "x", "updates", False, input_x, indices, updates)


def scatter_div(input_x: Any, indices: Any, updates: Any) -> Any:
    """Rows of a parameter divided, in place."""
    return changed("ScatterDiv", "x", "updates", False, input_x, indices, updates)


def scatter_max(input_x: Any, indices: Any, updates: Any) -> Any:
    """The larger of old and new rows of a parameter, in place."""
    return changed("ScatterMax", "x", "updates", False, input_x, indices, updates)


def scatter_min(input_x: Any, indices: Any, updates: Any) -> Any:
    """The smaller of old and new rows of a parameter, in place."""
    return changed("ScatterMin", "x", "updates", False, input_x, indices, updates)


def scatter_nd_add(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Any:
    """Slices of a parameter added to, in place."""
    return changed("ScatterNdAdd", "x", "updates", use_locking, input_x, indices, updates)


def scatter_nd_sub(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Any:
    """Slices of a parameter subtracted from, in place."""
    return changed("ScatterNdSub", "x", "updates", use_locking, input_x, indices, updates)


def scatter_nd_mul(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Any:
    """Slices of a parameter multiplied, in place."""
    return changed("ScatterNdMul", "x", "updates", use_locking, input_x, indices, updates)


def scatter_nd_div(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Any:
    """Slices of a parameter divided, in place."""
    return changed("ScatterNdDiv", "x", "updates", use_locking, input_x, indices, updates)


def scatter_nd_max(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Any:
    """The larger of old and new slices of a parameter, in place."""
    return changed("ScatterNdMax", "x", "updates", use_locking, input_x, indices, updates)


def scatter_nd_min(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Any:
    """The smaller of old and new slices of a parameter, in place."""
    return changed("ScatterNdMin", "x", "updates", use_locking, input_x, indices, updates)


@tensor_method("diagonal_scatter")
def _diagonal_scatter(self: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    if not is_eager() and (offset, dim1, dim2) == (0, 0, 1):
        raise TraceError("Tensor.diagonal_scatter needs all of its arguments in a graph; use ops.diagonal_scatter")
    return diagonal_scatter(self, src, offset, dim1, dim2)


@tensor_method("slice_scatter")
def slice_scatter(input: Any, src: Any, axis: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    """``input`` with the slice ``start:end:step`` along ``axis`` replaced by ``src``."""
    rank = len(input.shape)
    axis = axis_of(axis, rank, "slice_scatter")
    places = np.arange(input.shape[axis], dtype=np.int64)[slice(start, end, step)]
    wanted = tuple(len(places) if a == axis else n for a, n in enumerate(input.shape))
    if tuple(src.shape) != wanted:
        raise SettingError(f"slice_scatter: src must have shape {wanted}, got {tuple(src.shape)}")
    index = Tensor(places)
    for a in range(rank):
        if a != axis:
            index = call("ExpandDims", index, -1 if a > axis else 0)
    return call("TensorScatterElements", input, call("BroadcastTo", index, wanted), src, axis, 0)


_DIAGONAL: dict[str, Any] = {
    "output_names": ["y"], "input_names": ["x", "diagonal", "k"], "max_length": 200000000, "align": "LEFT_RIGHT",
}  # fmt: skip


def _placed(diagonal: Any, offset: int) -> Any:
    """``diagonal`` (..., n) on diagonal number ``offset`` of zeros."""
    size = diagonal.shape[-1] + abs(offset)
    zeros = Tensor(np.zeros((*diagonal.shape[:-1], size, size), diagonal.dtype.numpy), diagonal.dtype)
    return call("MatrixSetDiagV3", zeros, diagonal, Tensor(np.asarray(offset, np.int32)), **_DIAGONAL)


def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """The last axis of ``input`` on a diagonal of two new axes ``dim1`` and ``dim2``."""
    out = _placed(input, offset)
    rank = len(out.shape)
    first, second = (axis_of(a, rank, "diag_embed") for a in (dim1, dim2))
    if first == second:
        raise SettingError(f"diag_embed: dim1 {dim1} and dim2 {dim2} must be two axes")
    rest = iter(range(rank - 2))
    order = tuple(rank - 2 if a == first else rank - 1 if a == second else next(rest) for a in range(rank))
    return out if order == tuple(range(rank)) else call("Transpose", out, order)


def diagonal_scatter(input: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """``input`` with its diagonal replaced by ``src``."""
    old = input.diagonal(offset, dim1, dim2)
    if tuple(old.shape) != tuple(src.shape):
        raise SettingError(f"diagonal_scatter: src must have shape {tuple(old.shape)}, got {tuple(src.shape)}")
    if len({input.shape[a] for a in (dim1, dim2)}) != 1:
        raise SettingError("diagonal_scatter is supported for two axes of one length")
    without = call("Sub", input, diag_embed(old, offset, dim1, dim2), **SUB)
    return call("Add", without, diag_embed(src, offset, dim1, dim2))


@tensor_method("scatter")
def scatter(input: Tensor, axis: int, index: Tensor, src: Any) -> Tensor:
    """``input`` with the elements at ``index`` along ``axis`` replaced by those of ``src``, or by a number."""
    if isinstance(src, Tensor):
        return call("Scatter", input, axis, index, src, 0)  # type: ignore[no-any-return]
    return call("ScatterValue", input, axis, index, float(src), 0)  # type: ignore[no-any-return]


@tensor_method("scatter_add")
def _scatter_add(self: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    return tensor_scatter_add(self, indices, updates)


def tensor_scatter_add(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """``input_x`` with ``updates`` added at the coordinates ``indices``."""
    return call("TensorScatterAdd", input_x, indices, updates)  # type: ignore[no-any-return]


def tensor_scatter_sub(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """``input_x`` with ``updates`` taken from the elements at the coordinates ``indices``."""
    attrs: dict[str, Any] = {"output_names": ["y"], "input_names": ["input_x", "indices", "updates"]}
    return call("TensorScatterSub", input_x, indices, updates, **attrs)  # type: ignore[no-any-return]


@tensor_method("select_scatter")
def select_scatter(input: Tensor, src: Tensor, axis: int, index: int) -> Tensor:
    """``input`` with the slice at ``index`` of ``axis`` replaced by ``src``."""
    at = axis_of(axis, len(input.shape), "select_scatter")
    shape = tuple(1 if a == at else n for a, n in enumerate(input.shape))
    places = Tensor(np.asarray([index % input.shape[at]], np.int64))
    for a in range(len(shape) - 1):
        places = expand_dims(places, 0 if a < at else -1)
    return tensor_scatter_elements(input, broadcast_to(places, shape), expand_dims(src, axis), axis)
