"""Reductions, and those so far along an axis: functions and Tensor methods."""

from __future__ import annotations

from math import prod as _product
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import DtypeError, KernelError, SettingError, SettingTypeError, ShapeError, UnsupportedError
from harness.framework.ops.eager import is_number
from harness.framework.ops.expansion import cast, scalar
from harness.framework.ops.functions.arithmetic import SUB, untyped
from harness.framework.ops.functions.cells import made_at_each_call
from harness.framework.ops.functions.inner import div_of, look_up, mean_of, minus_of, pow_of, squeeze_of, sub_of, sum_of
from harness.framework.ops.functions.math import log
from harness.framework.ops.functions.shape import asked_dtype, axis_of, transpose
from harness.framework.ops.reduce import axes_of, is_whole
from harness.framework.tensor import Tensor, call, is_eager, tensor_method

__all__ = [
    "all", "amax", "amin", "any", "count_nonzero", "cummax", "cummin", "cumprod", "cumsum", "logsumexp", "max",
    "mean", "min", "nanmean", "nansum", "prod", "reduce_max", "reduce_mean", "reduce_min", "reduce_sum", "std", "sum",
    "var",
]  # fmt: skip


def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Sum over ``dim`` (None: all); integers and bools give Int64."""
    return call("SumExt", input, axes_of(dim), keepdim, dtype)


@tensor_method("sum")
def _sum(x: Any, axis: Any = None, *given: Any, keepdims: bool = False, dtype: Any = None, initial: Any = None) -> Any:
    """``sum(dim, keepdim, dtype=)``, or ``sum(axis, dtype, keepdims, initial)``."""
    for value in given:
        if isinstance(value, DType):
            dtype = value
        elif isinstance(value, bool):
            keepdims = value
        elif value is not None:
            raise SettingTypeError(f"Tensor.sum takes an axis, a bool and a dtype, got {value!r}")
    total = call("SumExt", x, axes_of(axis), keepdims, dtype)
    return total if initial is None else total + initial


def reduce_sum(x: Any, axis: Any = ()) -> Any:
    """Sum over ``axis`` as one ``ReduceSum``."""
    return call("ReduceSum", x, axes_of(axis), False, False)


def mean(x: Any, axis: Any = None, keep_dims: bool = False) -> Any:
    """Mean over ``axis`` (None: all)."""
    return call("ReduceMean", x, axes_of(axis), keep_dims)


@tensor_method("mean")
def _mean(x: Any, axis: Any = None, keep_dims: bool = False, dtype: Any = None, *, ext: bool = False) -> Any:
    return call("MeanExt", x, axes_of(axis), keep_dims, dtype) if ext else mean(x, axis, keep_dims)


def reduce_mean(x: Any, axis: Any = ()) -> Any:
    """Mean over ``axis``."""
    return mean(x, axis)


def reduce_max(x: Any, axis: Any = ()) -> Any:
    """The largest over ``axis``."""
    return call("ReduceMax", x, axes_of(axis), False)


def reduce_min(x: Any, axis: Any = ()) -> Any:
    """The smallest over ``axis``."""
    return call("ReduceMin", x, axes_of(axis), False)


def _taken(op: str, x: Any, initial: Any, where: Any, eager: str = "") -> Any:
    """``x`` beside ``initial`` (by operator ``op``), which also stands where ``where`` does not hold.

    Raises ``KernelError`` in a graph for the functions of name ``eager``: MindSpore's have no kernel there (measured).
    """
    look_up(f"ops.{op.lower()}")  # theirs hands the function on, used or not
    if eager and initial is not None and not is_eager():
        raise KernelError(f"ops.{eager} with initial has no CPU kernel in a graph; leave it out")
    if initial is None:
        if where is not None and where is not True:
            raise SettingError("max and min: where needs initial, the value of the elements left out")
        return x
    if not is_number(initial):
        raise SettingTypeError(f"max and min: initial must be a number, got {type(initial).__name__}")
    start = Tensor(np.full(x.shape, initial), x.dtype)
    x = call(op, x, start)
    return x if where is None else call("Select", call("BroadcastTo", where, tuple(x.shape)), x, start)


def _extreme(whole: str, placed: str, input: Any, axis: Any, keepdims: bool) -> Any:
    """(value, index) of the extreme along one axis, or (value, 0) over all."""
    if axis is None:
        return call(whole, input), Tensor(np.asarray(0, np.int64))
    index, value = call(placed, input, axis, keepdims)
    return value, index


def max(input: Any, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Any:
    """(values, indices) of the largest along ``axis``; over all: (value, 0)."""
    input = input if axis is None else _taken("Maximum", input, initial, where)
    return _extreme("Max", "ArgMaxWithValue", input, axis, keepdims)


def min(input: Any, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Any:
    """(values, indices) of the smallest along ``axis``; over all: (value, 0)."""
    input = input if axis is None else _taken("Minimum", input, initial, where)
    return _extreme("Min", "ArgMinWithValue", input, axis, keepdims)


@tensor_method("max")
def _max(x: Any, *args: Any, **named: Any) -> Any:
    """``max(dim, keepdim)``: (values, indices); ``max(axis, keepdims, return_indices=)``: the values."""
    return _extreme_of("max", max, amax, x, args, named)


@tensor_method("min")
def _min(x: Any, *args: Any, **named: Any) -> Any:
    """As ``max``, of the smallest."""
    return _extreme_of("min", min, amin, x, args, named)


def _extreme_of(name: str, of_one: Any, of_several: Any, x: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """One of the two methods of this name: MindSpore takes positions for ``dim, keepdim`` in PyNative mode, and for
    ``axis, keepdims`` in a graph (measured, ``tests/data/ops/edges.json``)."""
    if "dim" in named or "keepdim" in named or _is_dim(args, named):
        return call(f"{name.capitalize()}Dim", x, *_dim(*args, **named))
    return _values(name, of_one, of_several, x, *args, **named)


def _is_dim(args: tuple[Any, ...], named: dict[str, Any]) -> bool:
    are_flags = set(map(type, args[1:])) <= {bool}
    return is_eager() and not named and len(args) in (1, 2) and type(args[0]) is int and are_flags


def _dim(dim: int, keepdim: bool = False) -> tuple[int, bool]:
    return dim, keepdim


def _values(
    name: str, of_one: Any, of_several: Any, x: Any, axis: Any = None, keepdims: bool = False,
    *, initial: Any = None, where: Any = None, return_indices: bool = False,
) -> Any:  # fmt: skip
    if not (axis is None or isinstance(axis, (tuple, list)) or type(axis) is int):
        raise SettingTypeError(f"Tensor.{name}: axis must be an int, a tuple of ints or None, got {axis!r}")
    if isinstance(axis, (tuple, list)):
        return of_several(x, tuple(axis), keepdims, initial=initial, where=where)
    value, index = of_one(x, axis, keepdims, initial=initial, where=where)
    return (value, index) if return_indices else value


@tensor_method("amax")
def amax(input: Any, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Any:
    """The largest over ``axis`` (None: all)."""
    return call("ReduceMax", _taken("Maximum", input, initial, where, "amax"), axes_of(axis), keepdims)


@tensor_method("amin")
def amin(input: Any, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Any:
    """The smallest over ``axis`` (None: all)."""
    return call("ReduceMin", _taken("Minimum", input, initial, where, "amin"), axes_of(axis), keepdims)


@tensor_method("prod")
def _prod(x: Any, axis: Any = None, keep_dims: bool = False, dtype: Any = None) -> Any:
    if axis is not None and not is_whole(axis):
        raise SettingTypeError(f"Tensor.prod: dim must be an int, got {axis!r}")
    return prod(x, axis, keep_dims, dtype)


def prod(input: Any, axis: Any = None, keep_dims: bool = False, dtype: Any = None) -> Any:
    """Product over ``axis`` (None: all); integers and bools give Int64."""
    if axis is None and keep_dims:
        raise SettingError("prod: keep_dims must be False where axis is None")
    if isinstance(axis, (Tensor, tuple, list)):
        axes = axes_of(axis)
        axis = axes[0] if len(axes) == 1 else axes or None
    return call("ProdExt", input, axis, keep_dims, dtype)


@tensor_method("all")
def all(input: Any, axis: Any = None, keep_dims: bool = False) -> Any:
    """Whether all hold over ``axis``."""
    return call("ReduceAll", input, None if axis is None else axes_of(axis), keep_dims)


@tensor_method("any")
def any(input: Any, axis: Any = None, keep_dims: bool = False) -> Any:
    """Whether one holds over ``axis``."""
    return call("ReduceAny", input, axes_of(axis), keep_dims)


def cumsum(x: Any, axis: int, dtype: Any = None) -> Any:
    """Running sum along ``axis``."""
    return call("CumSum", x if dtype is None else _in(x, asked_dtype(dtype)), axis, False, False)


@tensor_method("cumsum")
def _cumsum(x: Any, axis: Any = None, dtype: Any = None) -> Any:
    """Running sum along ``axis`` (None: of the flat tensor), of narrow integers in Int32; then in ``dtype``."""
    own = x.dtype
    if own.name in ("Bool", "Int8", "Int16", "UInt8"):
        x = call("Cast", x, dtypes.int32)
    if axis is None:
        x, axis = call("Reshape", x, (-1,)), 0
    found = call("CumSum", x, axis, False, False)
    return found if dtype is None or dtype is own else _in(found, dtype)


@tensor_method("cumprod")
def cumprod(input: Any, dim: int, dtype: Any = None) -> Any:
    """Running product along ``dim``, of whole numbers in int64."""
    if dtype is None and input.dtype.kind in "biu":
        dtype = dtypes.int64
    return call("CumProd", _in(input, dtype), dim, False, False)


def _in(x: Any, dtype: Any) -> Any:
    return x if dtype is None or dtype is x.dtype else call("Cast", x, dtype)


def std(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """Standard deviation over ``axis``; ``ddof`` 1 (or True) divides by one less than the count."""
    return _std(input, axis, ddof, keepdims)


def var(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """Variance over ``axis``: the square of ``std``."""
    return call("Pow", _std(input, axis, ddof, keepdims), 2)


def _std(x: Any, axis: Any, ddof: int, keepdims: bool) -> Any:
    if ddof not in (0, 1):
        raise UnsupportedError(f"ops.std and ops.var: ddof must be 0 or 1, got {ddof}")
    rank = len(x.shape)
    axes = tuple(a + rank if -rank <= a < 0 else a for a in axes_of(axis))  # the slot holds them from 0 (measured)
    return call("ReduceStd", x, axes, bool(ddof), keepdims)[0]


@tensor_method("var")
def _variance(x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    rank = len(x.shape)
    if [a for a in axes_of(axis) if rank and not -rank <= a < rank]:
        raise ShapeError(f"Tensor.var and Tensor.std: axis must be in [{-rank}, {rank}), got {axis}")
    axes = tuple(a % rank if rank else a for a in axes_of(axis))
    over = set(axes) or set(range(rank))
    count = _product(n for i, n in enumerate(x.shape) if i in over)
    squares = pow_of(sub_of(x, mean_of(x, axes, True)), 2)
    return div_of(call("ReduceSum", squares, axes, keepdims, False), untyped(count - ddof))


@tensor_method("std")
def _deviation(x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    return call("Pow", _variance(x, axis, ddof, keepdims), 0.5)


@tensor_method("logsumexp")
def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """log(sum(e ** input)) over ``dim``, safe from overflow."""
    axes = axes_of(dim)
    top = call("ReduceMax", input, axes, True)
    total = log(sum_of(call("Exp", minus_of(input, top, **SUB)), axes, keepdim, None))
    return total + (top if keepdim else squeeze_of(top, axes))


@tensor_method("count_nonzero")
def count_nonzero(x: Any, axis: Any = (), keep_dims: bool = False, dtype: Any = dtypes.int32) -> Any:
    """How many elements are not 0."""
    if x.dtype is dtypes.bool_:
        raise DtypeError("count_nonzero takes numbers, got Bool; cast the tensor (ops.cast)")
    zeros = Tensor(np.zeros(x.shape, x.dtype.numpy), x.dtype)
    found = call("Cast", call("NotEqual", x, zeros), dtypes.float32)
    return call("Cast", call("ReduceSum", found, axes_of(axis), keep_dims, False), dtype)


_ONE: dict[str, Any] = {"output_names": ["output"], "input_names": ["x"]}


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


@tensor_method("ptp")
def _ptp(self: Any, axis: Any = None, keepdims: bool = False) -> Any:
    given = () if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(axis_of(each, len(self.shape), "ptp") for each in given)
    return self.amax(axes, keepdims) - self.amin(axes, keepdims)
