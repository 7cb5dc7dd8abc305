"""Statistics of tensors, the largest elements, and integrals."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.framework.ops.functions.arithmetic import SUB
from harness.framework.ops.functions.reduction import amax, amin, mean, std, var
from harness.framework.ops.functions.search import TOP_K, k_tensor, sort
from harness.framework.ops.functions.shape import axis_of, reshape
from harness.framework.ops.reduce import axes_of
from harness.framework.tensor import Tensor, call, tensor_method

__all__ = ["aminmax", "histc", "median", "msort", "nanmedian", "renorm", "std_mean", "top_k", "trapz", "var_mean"]


@tensor_method("aminmax")
def aminmax(input: Any, *, axis: int | None = 0, keepdims: bool = False) -> Any:
    """(smallest, largest) along ``axis`` (None: of all)."""
    if axis is None:
        return amin(input, None, keepdims), amax(input, None, keepdims)
    return tuple(call(f"Arg{which}WithValue", input, axis, keepdims)[1] for which in ("Min", "Max"))


def std_mean(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """(deviation, mean) over ``axis``."""
    if ddof not in (0, 1):
        return std(input, axis, ddof, keepdims), mean(input, axis, keepdims)
    return call("ReduceStd", input, () if axis is None else axes_of(axis), bool(ddof), keepdims)


def var_mean(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """(variance, mean) over ``axis``."""
    if ddof not in (0, 1):
        return var(input, axis, ddof, keepdims), mean(input, axis, keepdims)
    deviation, middle = std_mean(input, axis, ddof, keepdims)
    return call("Pow", deviation, 2), middle


@tensor_method("histc")
def histc(input: Any, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Any:
    """How many elements lie in each of ``bins`` equal parts from ``min`` to ``max`` (both 0: those of the tensor)."""
    names: dict[str, Any] = {"input_names": ["x"], "max": float(max), "min": float(min), "output_names": ["y"]}
    return call("Cast", call("Histogram", input, bins=bins, **names), input.dtype)


@tensor_method("msort")
def msort(input: Any) -> Any:
    """``input`` in rising order along its first axis."""
    return sort(input, 0)[0]


@tensor_method("top_k")
def top_k(input_x: Any, k: int, sorted: bool = True) -> Any:
    """(values, Int32 places) of the ``k`` largest along the last axis."""
    attrs = {"output_names": TOP_K["output_names"], "sorted": sorted, "input_names": TOP_K["input_names"]}
    return call("TopK", input_x, k_tensor(k), **attrs)


@tensor_method("renorm")
def renorm(input: Any, p: int, axis: int, maxnorm: float) -> Any:
    """Slices along ``axis`` whose ``p``-norm exceeds ``maxnorm``, brought down to it."""
    names: dict[str, Any] = {"input_names": ["x"], "output_names": ["y"], "dim": axis}
    return call("Renorm", input, p=float(p), maxnorm=float(maxnorm), **names)


def trapz(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Any:
    """The integral along ``dim`` by trapezoids, at the places ``x`` or at distances ``dx``."""
    rank = len(y.shape)
    at = axis_of(dim, rank, "trapz")
    if x is None:
        ends = [_end(y, at, place) for place in (0, -1)]
        inner = call("Sub", call("SumExt", y, (at,), False, None), call("Add", *ends) * 0.5, **SUB)
        return inner * dx
    heights = call("Add", *(_cut(y, at, start) for start in (0, 1)))
    along = at if len(x.shape) == rank else 0
    widths = call("Sub", _cut(x, along, 1), _cut(x, along, 0), **SUB)
    if len(x.shape) == 1 and at != rank - 1:
        widths = reshape(widths, (-1,) + (1,) * (rank - 1 - at))
    return call("SumExt", call("Mul", heights, widths), (at,), False, None) / 2.0


def _cut(x: Any, at: int, start: int) -> Any:
    """All but one along an axis, from ``start`` on."""
    begin = tuple(start if a == at else 0 for a in range(len(x.shape)))
    return call("Slice", x, begin, tuple(n - (a == at) for a, n in enumerate(x.shape)))


def _end(y: Any, at: int, place: int) -> Any:
    shape = tuple(1 if a == at else n for a, n in enumerate(y.shape))
    taken = call("GatherD", y, at, Tensor(np.full(shape, place, np.int32)))
    return reshape(taken, tuple(n for a, n in enumerate(y.shape) if a != at))


@tensor_method("median")
def median(input: Tensor, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """(the median along ``axis``, the lower of two; its Int64 place)."""
    attrs: dict[str, Any] = {
        "keep_dims": keepdims, "cust_aicpu": "Median", "input_names": ["x"], "axis": axis,
        "output_names": ["y", "indices"], "global_median": False, "ignore_nan": False,
    }  # fmt: skip
    return call("Median", input, **attrs)  # type: ignore[no-any-return]


@tensor_method("nanmedian")
def nanmedian(input: Any, axis: int = -1, keepdims: bool = False) -> Any:
    """(the median along ``axis`` of what is not NaN, the lower of two; its Int64 place)."""
    attrs: dict[str, Any] = {
        "keep_dims": keepdims, "cust_aicpu": "Median", "input_names": ["x"], "axis": axis,
        "output_names": ["y", "indices"], "global_median": False, "ignore_nan": True,
    }  # fmt: skip
    return call("Median", input, **attrs)
