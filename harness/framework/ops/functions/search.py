"""Finds places in tensors: argmax, topk, nonzero, places among sorted and different values."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework.ops.functions.shape import axis_of
from harness.framework.ops.operators.argmax import as_numbers
from harness.framework.tensor import Tensor, call, tensor_method
from harness.framework.tensor.dispatch import is_eager, is_tracing

__all__ = [
    "argmax", "argmin", "argsort", "argwhere", "bucketize", "intopk", "nonzero", "searchsorted", "sort", "topk",
    "unique", "unique_consecutive",
]  # fmt: skip

#: an argument that was not given
_UNSAID: Any = object()
#: numbers of the dtypes of indices, as graphs show them
INDEX = {"Int32": 34, "Int64": 35}
TOP_K: dict[str, Any] = {"output_names": ["values", "indices"], "input_names": ["input", "k"]}


def k_tensor(k: int) -> Tensor:
    """How many are asked for, as the constant a graph shows."""
    return Tensor(np.asarray(k, np.int64))


def _place(op: str, dtype: str, x: Any, axis: Any, keep: bool) -> Any:
    if not x.shape:
        return Tensor(0)
    if op == "Argmax":
        x = as_numbers(x)
    if axis is None:
        return call(op, call("Reshape", x, (-1,)), 0, INDEX[dtype])
    at = call(op, x, axis, INDEX[dtype])
    return call("ExpandDims", at, axis) if keep else at


def argmax(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Int64 index of the largest along ``dim`` (None: in the flat tensor)."""
    return _place("Argmax", "Int64", input, dim, keepdim)


@tensor_method("argmin")
def argmin(input: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Int32 index of the smallest along ``axis`` (None: in the flat tensor)."""
    return _place("Argmin", "Int32", input, axis, keepdims)


@tensor_method("argmax")
def _argmax(x: Any, axis: Any = _UNSAID, keepdims: bool = False, *, ext: bool = False) -> Any:
    if axis is _UNSAID:
        # Measured: of the flat tensor, but along the last axis in graphs.
        axis = -1 if is_tracing() and not ext else None
    return call("ArgMaxExt", x, axis, keepdims) if axis is None or ext else _place("Argmax", "Int64", x, axis, keepdims)


@tensor_method("argmax_with_value")
def _argmax_with_value(x: Any, axis: int | None = 0, keep_dims: bool = False) -> Any:
    """(largest, their Int64 places) along ``axis``; over all: (value, 0)."""
    if axis is None:
        return x.max(), Tensor(0, dtypes.int64)
    places, values = call("ArgMaxWithValue", x, axis, keep_dims)
    return values, places


@tensor_method("argmin_with_value")
def _argmin_with_value(x: Any, axis: int | None = 0, keep_dims: bool = False) -> Any:
    """(smallest, their Int64 places) along ``axis``; over all: (value, 0)."""
    if axis is None:
        return x.min(), Tensor(0, dtypes.int64)
    places, values = call("ArgMinWithValue", x, axis, keep_dims)
    return values, places


@tensor_method("topk")
def topk(input: Any, k: int, dim: Any = None, largest: bool = True, sorted: bool = True) -> Any:
    """(values, Int32 indices) of the ``k`` largest (or smallest) elements along ``dim`` (None: the last)."""
    rank = len(input.shape)
    if dim is not None and rank:
        axis_of(dim, rank, "topk")
    last = dim is None or dim % rank == rank - 1
    order = tuple(range(rank))
    if not largest:
        input = call("Neg", input)
    if not last:
        at = dim % rank
        order = (*(a if a != at else rank - 1 for a in range(rank - 1)), at)
        input = call("Transpose", input, order)
    attrs = {"output_names": TOP_K["output_names"], "sorted": sorted, "input_names": TOP_K["input_names"]}
    values, indices = call("TopK", input, k_tensor(k), **attrs)
    if not last:
        values, indices = call("Transpose", values, order), call("Transpose", indices, order)
    if not largest:
        values = call("Neg", values)
    return values, indices


@tensor_method("nonzero")
def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """Indices of the elements that are not 0, one row each; ``as_tuple``: a tensor for each axis."""
    if as_tuple and not is_eager():
        return call("NonZeroExt", input)
    found = call("NonZero", input, output_is_dynamic_shape=True)
    if not as_tuple:
        return found
    return tuple(found[:, axis] for axis in range(len(input.shape)))


def sort(input_x: Any, axis: int = -1, descending: bool = False) -> Any:
    """(values in order along ``axis``, Int32 indices)."""
    names: dict[str, Any] = {"output_names": ["y1", "y2"], "descending": descending, "input_names": ["x"], "axis": axis}
    return call("Sort", input_x, **names)


def argsort(input: Any, axis: int = -1, descending: bool = False) -> Any:
    """Int32 indices that put ``input`` in order along ``axis``."""
    return sort(input, axis, descending)[1]


@tensor_method("sort")
def _sort(x: Any, axis: int = -1, descending: bool = False, stable: bool = False) -> Any:
    return sort(x, axis, descending)


@tensor_method("argsort")
def _argsort(x: Any, axis: int = -1, descending: bool = False, stable: bool = False) -> Any:
    return argsort(x, axis, descending)


@tensor_method("unique_consecutive")
def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Each run of equal elements once (of equal parts along ``dim``); the Int64 place of each element's run, and the
    Int64 lengths of runs, if they are asked for."""
    for value, name in ((return_inverse, "return_inverse"), (return_counts, "return_counts")):
        if not isinstance(value, bool):
            raise SettingTypeError(f"unique_consecutive: {name} must be a bool, got {value!r}")
    flags = (return_inverse, return_counts)
    values, *more = call("UniqueConsecutive", input, *flags, dim, output_is_dynamic_shape=True)
    asked = [found for found, flag in zip(more, flags, strict=True) if flag]
    return (values, *asked) if asked else values


@tensor_method("argwhere")
def argwhere(input: Tensor) -> Tensor:
    """Indices of the elements that are not 0, one row each."""
    return nonzero(input)  # type: ignore[no-any-return]


def searchsorted(
    sorted_sequence: Tensor, values: Tensor, *, out_int32: bool = False, right: bool = False, side: Any = None,
    sorter: Any = None,
) -> Tensor:  # fmt: skip
    """Where each value would stand in the ascending last axis of ``sorted_sequence``; after equal ones if ``right``."""
    if side not in (None, "left", "right") or (side == "left" and right):
        raise SettingError(f"searchsorted: side must be 'left' or 'right' and agree with right, got {side!r}")
    number = 34 if out_int32 else 35
    return call("SearchSorted", sorted_sequence, values, sorter, number, right or side == "right")  # type: ignore[no-any-return]


def intopk(x1: Tensor, x2: Tensor, k: int) -> Tensor:
    """Whether the element of each row at place ``x2`` is among the row's ``k`` largest."""
    return call("InTopK", x1, x2, output_names=["y"], k=k, input_names=["x1", "x2", "k"])  # type: ignore[no-any-return]


@tensor_method("searchsorted")
def _searchsorted(self: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    if side not in ("left", "right"):
        raise SettingError(f"Tensor.searchsorted: side must be 'left' or 'right', got {side!r}")
    return searchsorted(self, v, out_int32=True, right=side == "right", sorter=sorter)


def bucketize(input: Any, boundaries: Any, *, right: bool = False) -> Any:
    """The Int32 place of each element among the ascending ``boundaries`` (a list); after equal ones if ``right``."""
    if not isinstance(boundaries, list):
        raise SettingTypeError(f"bucketize: boundaries must be a list, got {type(boundaries).__name__}")
    if not isinstance(right, bool):
        raise SettingTypeError(f"bucketize: right must be a bool, got {right!r}")
    table = Tensor([float(b) for b in boundaries], dtypes.float32)
    values = input if input.dtype is dtypes.float32 else call("Cast", input, dtypes.float32)
    return call("SearchSorted", table, values, None, 34, right)


def unique(input: Any) -> Any:
    """(each value once, in the order they come; the place of each element's value, in the shape of ``input``)."""
    values, places = call("Unique", call("Reshape", input, (-1,)))
    return values, call("Reshape", places, tuple(input.shape))
