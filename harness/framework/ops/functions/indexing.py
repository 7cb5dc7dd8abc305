"""Functions that pick elements by index, mask or coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework.ops.eager import is_number
from harness.framework.ops.expansion import scalar
from harness.framework.ops.functions.arithmetic import SUB
from harness.framework.ops.functions.shape import axis_of, broadcast_to, reshape, sizes
from harness.framework.ops.operators.scatter_along import FILL
from harness.framework.ops.reduce import is_whole
from harness.framework.tensor import Tensor, call, is_eager, tensor_method

__all__ = [
    "gather", "gather_d", "gather_elements", "gather_nd", "index_fill", "index_select", "masked_fill",
    "masked_select", "one_hot", "scatter_add", "scatter_nd", "scatter_nd_update", "scatter_update", "slice",
    "stop_gradient", "strided_slice", "tensor_scatter_elements", "tensor_scatter_update", "tensor_slice", "tril",
    "triu", "unsorted_segment_sum",
]  # fmt: skip

#: values of the reduction argument of TensorScatterElements
_SCATTER = {"none": 0, "add": 1}


@tensor_method("gather")
def _gather(self: Tensor, input_indices: Any, axis: Any, batch_dims: Any = None, *, ext: bool = False) -> Tensor:
    """``gather(input_indices, axis)``, or ``gather(dim, index)``: ``gather_d``."""
    if batch_dims is not None and not isinstance(input_indices, Tensor):
        raise SettingTypeError(f"Tensor.gather: input_indices must be a Tensor, got {type(input_indices).__name__}")
    if ext or isinstance(axis, Tensor):
        if isinstance(axis, Tensor) and isinstance(input_indices, Tensor):
            raise SettingTypeError("Tensor.gather: the axis must be an int, got a Tensor")
        dim, index = (axis, input_indices) if isinstance(input_indices, Tensor) else (input_indices, axis)
        return gather_d(self, dim, index)
    return gather(self, input_indices, axis, batch_dims or 0)


def gather(input_params: Tensor, input_indices: Tensor, axis: int, batch_dims: int = 0) -> Tensor:
    """Slices of ``input_params`` at ``input_indices`` along ``axis``."""
    axis = int(axis)
    return call("Gather", input_params, input_indices, axis, batch_dims, batch_dims=batch_dims)  # type: ignore[no-any-return]


@tensor_method("index_select")
def index_select(input: Tensor, axis: int, index: Tensor) -> Tensor:
    """Slices of ``input`` at the positions ``index`` (1-D) along ``axis``."""
    if len(index.shape) != 1:
        raise SettingError(f"index_select: the index must have one axis, got shape {tuple(index.shape)}")
    return gather(input, index, axis)


def gather_d(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """Elements along ``dim``, each by its own index."""
    return call("GatherD", x, dim, index)  # type: ignore[no-any-return]


@tensor_method("gather_elements")
def gather_elements(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Elements along ``dim``, each by its own index."""
    return gather_d(input, dim, index)


@tensor_method("gather_nd")
def gather_nd(input_x: Tensor, indices: Tensor) -> Tensor:
    """Slices at the coordinates along the last axis of ``indices``."""
    return call("GatherNd", input_x, indices)  # type: ignore[no-any-return]


def scatter_nd(indices: Tensor, updates: Tensor, shape: Any) -> Tensor:
    """Zeros of ``shape`` with ``updates`` added at the coordinates ``indices``."""
    return call("ScatterNd", indices, updates, sizes((shape,)))  # type: ignore[no-any-return]


def tensor_scatter_update(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """``input_x`` with ``updates`` at the coordinates ``indices``."""
    attrs: dict[str, Any] = {"output_names": ["y"], "input_names": ["input_x", "indices", "updates"]}
    return call("TensorScatterUpdate", input_x, indices, updates, **attrs)  # type: ignore[no-any-return]


def tensor_scatter_elements(
    input_x: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, reduction: str = "none"
) -> Tensor:
    """``input_x`` with ``updates`` put (or added) at ``indices`` along ``axis``."""
    if reduction not in _SCATTER:
        raise ValueError(f"tensor_scatter_elements: reduction must be 'none' or 'add', got {reduction!r}")
    return call("TensorScatterElements", input_x, indices, updates, axis, _SCATTER[reduction])  # type: ignore[no-any-return]


def unsorted_segment_sum(input_x: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    """Sums of the slices that share a segment number."""
    count = num_segments if isinstance(num_segments, Tensor) else Tensor(np.asarray(num_segments, np.int64))
    return call("UnsortedSegmentSum", input_x, segment_ids, count)  # type: ignore[no-any-return]


def one_hot(indices: Tensor, depth: int, on_value: Any = 1, off_value: Any = 0, axis: int = -1) -> Tensor:
    """``on_value`` at each index of a new axis of length ``depth``, ``off_value`` elsewhere; int64 for ints."""
    values = [v if isinstance(v, Tensor) else scalar(v, _value_dtype(v)) for v in (on_value, off_value)]
    return call("OneHot", indices, depth, *values, axis)  # type: ignore[no-any-return]


def _value_dtype(value: Any) -> dtypes.DType:
    return dtypes.int64 if isinstance(value, (int, np.integer)) else dtypes.float32


def masked_fill(input_x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """``value`` where ``mask`` holds, else ``input_x``.

    A number is a tensor of its own dtype, Float32 or Int32, whatever that of ``input_x``: a CPU computes in that one,
    and has no kernel for whole numbers in a tensor of fractions (measured). The method of a tensor casts it.
    """
    if is_number(value):
        value = scalar(value, _filled_with(value, input_x.dtype))
    return call("MaskedFill", input_x, mask, value)  # type: ignore[no-any-return]


def _filled_with(number: Any, dtype: dtypes.DType) -> dtypes.DType:
    if isinstance(number, bool):
        return dtypes.bool_
    if isinstance(number, (int, np.integer)):
        return dtypes.int64 if dtype is dtypes.int64 else dtypes.int32
    return dtypes.float32


@tensor_method("masked_fill")
def _masked_fill(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    return call("MaskedFillScalar" if is_number(value) else "MaskedFill", self, mask, value)  # type: ignore[no-any-return]


def slice(input_x: Tensor, begin: Any, size: Any) -> Tensor:
    """The box of ``size`` from corner ``begin``."""
    return call("Slice", input_x, sizes((begin,)), sizes((size,)))  # type: ignore[no-any-return]


def strided_slice(
    input_x: Tensor,
    begin: Any,
    end: Any,
    strides: Any,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Tensor:
    """Slices with steps along the first axes; the masks are read bit by bit (see ``StridedSlice``)."""
    bounds = [sizes((v,)) for v in (begin, end, strides)]
    masks = begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
    return call("StridedSlice", input_x, *bounds, *masks)  # type: ignore[no-any-return]


@tensor_method("tril")
def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The part of each matrix on and below the diagonal; zeros above."""
    return call("Tril", input, output_names=["y"], diagonal=diagonal, input_names=["x"])  # type: ignore[no-any-return]


@tensor_method("triu")
def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The part of each matrix on and above the diagonal; zeros below."""
    return call("Triu", input, diagonal)  # type: ignore[no-any-return]


def stop_gradient(value: Any) -> Any:
    """``value``, through which no gradient flows; what holds no tensor stays as it is (measured)."""
    if not is_eager() and isinstance(value, dict):
        return {key: stop_gradient(member) for key, member in value.items()}
    if not is_eager() and isinstance(value, list):
        return [stop_gradient(member) for member in value]
    if not isinstance(value, (Tensor, tuple) if not is_eager() else Tensor):
        return value
    return call("StopGradient", value)


@tensor_method("masked_select")
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements of ``input`` where ``mask``, which broadcasts, is True; one axis."""
    return call("MaskedSelect", input, mask, output_is_dynamic_shape=True)  # type: ignore[no-any-return]


def _scatter(name: str, first: str, last: str, locking: bool, *args: Tensor) -> Tensor:
    names: dict[str, Any] = {"output_names": ["y"], "side_effect_mem": True, "input_names": [first, "indices", last]}
    return call(name, *args, **names, use_locking=locking)  # type: ignore[no-any-return]


def scatter_update(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """Rows of a parameter replaced, in place."""
    return _scatter("ScatterUpdate", "x", "updates", True, input_x, indices, updates)


def scatter_add(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """Rows of a parameter added to, in place."""
    return _scatter("ScatterAdd", "x", "updates", False, input_x, indices, updates)


def scatter_nd_update(input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = True) -> Tensor:
    """Slices of a parameter replaced, in place."""
    return _scatter("ScatterNdUpdate", "input_x", "value", use_locking, input_x, indices, updates)


def tensor_slice(input: Any, begin: Any, size: Any) -> Any:
    """The box of ``size`` from corner ``begin``."""
    return slice(input, begin, size)


@tensor_method("index_fill")
def index_fill(x: Tensor, axis: int, index: Tensor, value: Any) -> Tensor:
    """``x`` with ``value`` at the positions ``index`` of ``axis``."""
    if not is_whole(axis):
        raise SettingTypeError(f"index_fill: axis must be an int, got {axis!r}")
    number = scalar(value, x.dtype) if is_number(value) else value
    return call("IndexFill", x, Tensor(np.asarray(axis, np.int32)), index, number, **FILL)  # type: ignore[no-any-return]


@tensor_method("take")
def _take(x: Tensor, indices: Any, axis: Any = None, mode: str = "clip") -> Tensor:
    """Elements of ``axis`` (None: of the flat tensor) at ``indices``; ``mode`` says what stands for those out of
    range."""
    if not isinstance(indices, Tensor):
        raise SettingTypeError(f"Tensor.take: indices must be a tensor, got {type(indices).__name__}")
    if mode not in ("raise", "wrap", "clip"):
        raise SettingError(f"Tensor.take: mode must be 'raise', 'wrap' or 'clip', got {mode!r}")
    x, at = (reshape(x, (-1,)), 0) if axis is None else (x, axis_of(axis, len(x.shape), "take"))
    length, count = x.shape[at], int(np.prod(indices.shape))
    places = _within(indices, length, mode)
    spread = tuple(count if a == at else 1 for a in range(len(x.shape)))
    places = places if tuple(places.shape) == spread else reshape(places, spread)
    wide = tuple(count if a == at else n for a, n in enumerate(x.shape))
    found = gather_d(x, at, broadcast_to(places, wide))
    return reshape(found, (*x.shape[:at], *indices.shape, *x.shape[at + 1 :])) if len(indices.shape) != 1 else found


def _within(places: Tensor, length: int, mode: str) -> Tensor:
    def all_of(number: int) -> Tensor:
        return Tensor(np.full(places.shape, number), places.dtype)

    if mode == "raise":
        return places
    if mode == "wrap":
        whole = call("Mul", all_of(length), call("FloorDiv", places, all_of(length)))
        return call("Sub", places, whole, **SUB)  # type: ignore[no-any-return]
    above, below = call("Greater", places, all_of(length - 1)), call("Less", places, all_of(-length))
    return call("Select", above, all_of(length - 1), call("Select", below, all_of(0), places))  # type: ignore[no-any-return]
