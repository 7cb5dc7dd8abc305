"""Diagonals, scattered and rotated elements, differences, and reductions that leave NaN out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import DtypeError, SettingError, SettingTypeError, StateError
from harness.framework.ops.eager import is_number
from harness.framework.ops.expansion import cast, scalar
from harness.framework.ops.functions.arithmetic import SUB
from harness.framework.ops.functions.cells import made_at_each_call
from harness.framework.ops.functions.create import constant, diag
from harness.framework.ops.functions.indexing import gather_d, tensor_scatter_elements
from harness.framework.ops.functions.join import concat
from harness.framework.ops.functions.search import nonzero
from harness.framework.ops.functions.shape import (
    as_dtype,
    axis_of,
    broadcast_to,
    expand_dims,
    flip,
    reshape,
    reversed_along,
    transpose,
)
from harness.framework.ops.operators.scatter_along import FILL
from harness.framework.ops.reduce import axes_of, is_whole
from harness.framework.tensor import Tensor, call, tensor_method

__all__ = [
    "argwhere", "cummax", "cummin", "diagflat", "diagonal", "diff", "float_power", "frac",
    "index_fill", "intopk", "median", "nanmean", "nansum", "reverse", "rot90", "scatter", "searchsorted",
    "select_scatter", "signbit", "t", "tensor_scatter_add", "tensor_scatter_sub", "trace",
]  # fmt: skip

_ONE: dict[str, Any] = {"output_names": ["output"], "input_names": ["x"]}


@tensor_method("t")
def t(input: Tensor) -> Tensor:
    """A matrix with its axes exchanged; a vector as it is."""
    if len(input.shape) > 2:
        raise SettingError(f"t: at most 2 dimensions are taken, got {len(input.shape)}")
    return transpose(input, (1, 0)) if len(input.shape) == 2 else input


@tensor_method("type")
def _type(self: Tensor, dtype: Any = None) -> Any:
    return str(self.dtype) if dtype is None else self.astype(dtype)


@tensor_method("fill")
def _fill(self: Tensor, value: Any) -> Tensor:
    """A tensor like this one of one value; None stands for NaN."""
    if value is None and self.dtype.kind != "f":
        raise DtypeError(f"Tensor.fill(None) takes a floating tensor, got {self.dtype}")
    return constant(np.nan if value is None else value, self.shape, self.dtype)


@tensor_method("diagonal")
def _diagonal(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    return diagonal(self, offset, axis1, axis2)


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of the axes ``dim1`` and ``dim2``, as the last axis."""
    return call("Diagonal", input, offset, dim1, dim2)  # type: ignore[no-any-return]


@tensor_method("diagflat")
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The elements on diagonal number ``offset`` of a matrix of zeros."""
    flat = input if len(input.shape) == 1 else reshape(input, (-1,))
    made, length, away = diag(flat), int(np.prod(input.shape)), abs(offset)
    if not offset:
        return made
    rows = constant(0, (away, length), input.dtype)
    columns = constant(0, (length + away, away), input.dtype)
    return concat((columns, concat((made, rows), 0)) if offset > 0 else (concat((rows, made), 0), columns), 1)


def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal."""
    return call("Trace", input)  # type: ignore[no-any-return]


@tensor_method("trace")
def _trace(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    numbers = [Tensor(np.asarray(n, np.int64)) for n in (offset, axis1, axis2)]
    return call("TraceV2", self, *numbers, None if dtype is None else as_dtype(dtype))  # type: ignore[no-any-return]


@tensor_method("diff")
def diff(x: Tensor, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Each element less the one before it along ``axis``; ``n`` can only be 1."""
    if not x.shape:
        raise SettingTypeError("diff: a tensor of at least one dimension is needed")
    if isinstance(n, bool) or not isinstance(n, int):
        raise SettingTypeError(f"diff: n must be an int, got {n!r}")
    if n != 1:
        raise StateError(f"diff: n must be 1, got {n}")
    members = tuple(each for each in (prepend, x, append) if each is not None)
    x = concat(members, axis) if len(members) > 1 else x
    places = np.arange(x.shape[axis_of(axis, len(x.shape), "diff")])
    later, earlier = (call("Gather", x, Tensor(part), axis, 0, batch_dims=0) for part in (places[1:], places[:-1]))
    return call("Sub", later, earlier, **SUB)  # type: ignore[no-any-return]


@tensor_method("argwhere")
def argwhere(input: Tensor) -> Tensor:
    """Indices of the elements that are not 0, one row each."""
    return nonzero(input)  # type: ignore[no-any-return]


def _without_nan(x: Tensor) -> tuple[Tensor, Tensor]:
    lost = call("IsNan", x, **_ONE)
    return call("MaskedFill", x, lost, scalar(0, x.dtype)), lost


@tensor_method("nansum")
def nansum(input: Tensor, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum over ``axis`` of what is not NaN."""
    found, _ = _without_nan(cast(input, dtypes.int64) if input.dtype.kind == "b" else input)
    found = call("ReduceSum", found, axes_of(axis), keepdims, False)
    return cast(found, dtype or found.dtype)  # type: ignore[no-any-return]


@tensor_method("nanmean")
@made_at_each_call
def nanmean(input: Tensor, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean over ``axis`` of what is not NaN."""
    if input.dtype.kind != "f":
        raise DtypeError(f"nanmean takes a floating tensor, got {input.dtype}")
    kept, lost = _without_nan(input)
    total = call("ReduceSum", kept, axes_of(axis), keepdims, False)
    found = call("Div", total, call("SumExt", call("LogicalNot", lost), axes_of(axis), keepdims, None))
    return cast(found, dtype or found.dtype)  # type: ignore[no-any-return]


@tensor_method("cummax")
def cummax(input: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """(the largest so far along ``axis``, Int64 places)."""
    return call("Cummax", input, axis)  # type: ignore[no-any-return]


@tensor_method("cummin")
def cummin(input: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """(the smallest so far along ``axis``, Int32 places)."""
    if axis == 0:
        return call("Cummin", input, 0)  # type: ignore[no-any-return]
    order = list(range(len(input.shape)))
    at = axis_of(axis, len(order), "cummin")
    order[0], order[at] = at, 0
    values, places = call("Cummin", transpose(input, tuple(order)), 0)
    return transpose(values, tuple(order)), transpose(places, tuple(order))


@tensor_method("median")
def median(input: Tensor, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """(the median along ``axis``, the lower of two; its Int64 place)."""
    attrs: dict[str, Any] = {
        "keep_dims": keepdims, "cust_aicpu": "Median", "input_names": ["x"], "axis": axis,
        "output_names": ["y", "indices"], "global_median": False, "ignore_nan": False,
    }  # fmt: skip
    return call("Median", input, **attrs)  # type: ignore[no-any-return]


@tensor_method("float_power")
def float_power(input: Any, exponent: Any) -> Tensor:
    """``input ** exponent`` in Float64."""
    if not isinstance(input, Tensor) and not isinstance(exponent, Tensor):
        raise SettingTypeError("float_power takes a tensor, as input or as exponent")
    base, power = (cast(v, dtypes.float64) if isinstance(v, Tensor) else v for v in (input, exponent))
    return call("Pow", base, power)  # type: ignore[no-any-return]


@tensor_method("rot90")
def rot90(input: Tensor, k: int, dims: Sequence[int]) -> Tensor:
    """``input`` rotated ``k`` times by 90 degrees, from the first of two axes to the second."""
    rank = len(input.shape)
    if not isinstance(k, int) or not isinstance(dims, (list, tuple)):
        raise SettingTypeError(f"rot90: k must be an int and dims a tuple, got {k!r} and {dims!r}")
    if len(dims) != 2:
        raise SettingError(f"rot90: dims must name two axes, got {dims}")
    if dims[0] == dims[1] or abs(dims[0] - dims[1]) == rank:
        raise StateError(f"rot90: dims must name two different axes, got {dims}")
    first, second = (axis_of(a, rank, "rot90") for a in dims)
    turned = list(range(rank))
    turned[first], turned[second] = second, first
    if k % 4 == 0:
        return input
    if k % 4 == 2:
        return reversed_along(reversed_along(input, (dims[0],)), (dims[1],))
    if k % 4 == 1:
        return transpose(reversed_along(input, (dims[1],)), tuple(turned))
    return reversed_along(transpose(input, tuple(turned)), (dims[1],))


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


@tensor_method("index_fill")
def index_fill(x: Tensor, axis: int, index: Tensor, value: Any) -> Tensor:
    """``x`` with ``value`` at the positions ``index`` of ``axis``."""
    if not is_whole(axis):
        raise SettingTypeError(f"index_fill: axis must be an int, got {axis!r}")
    number = scalar(value, x.dtype) if is_number(value) else value
    return call("IndexFill", x, Tensor(np.asarray(axis, np.int32)), index, number, **FILL)  # type: ignore[no-any-return]


@tensor_method("reverse")
def reverse(x: Tensor, axis: Any) -> Tensor:
    """``x`` backwards along ``axis``."""
    if not isinstance(axis, (tuple, list)):
        raise SettingTypeError(f"reverse: axis must be a tuple or list of ints, got {axis!r}")
    return flip(x, axis)


@tensor_method("frac")
def frac(x: Tensor) -> Tensor:
    """What follows the point, with the sign of ``x``."""
    return call("Mod", x, 1, output_names=["output"], input_names=["x", "y"])  # type: ignore[no-any-return]


@tensor_method("signbit")
def signbit(input: Tensor) -> Tensor:
    """Whether an element is below 0."""
    return call("LessScalar", input, 0)  # type: ignore[no-any-return]


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
