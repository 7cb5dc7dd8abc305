"""Statistics of tensors, integrals, and windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import SettingError
from harness.framework.ops.functions.arithmetic import SUB
from harness.framework.ops.functions.reduction import amax, amin, mean, std, var
from harness.framework.ops.functions.search import TOP_K, k_tensor, sort
from harness.framework.ops.functions.shape import axis_of, reshape
from harness.framework.ops.operators.bessel import scaled
from harness.framework.ops.reduce import axes_of
from harness.framework.tensor import Tensor, call, tensor_method

__all__ = [
    "aminmax", "hann_window", "histc", "kaiser_window", "matrix_band_part", "matrix_diag", "matrix_diag_part",
    "matrix_set_diag", "msort",
    "nextafter", "renorm", "std_mean", "top_k", "trapz", "var_mean",
]  # fmt: skip


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


@tensor_method("nextafter")
def nextafter(input: Any, other: Any) -> Any:
    """The next number after each element on the way to ``other``."""
    return call("NextAfter", input, other)


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


def _band(number: Any) -> Tensor:
    return number if isinstance(number, Tensor) else Tensor(np.asarray(number, np.int64))


def matrix_band_part(x: Any, lower: Any, upper: Any) -> Any:
    """Matrices with ``lower`` diagonals below and ``upper`` above the main one kept (below 0: all), zeros elsewhere."""
    names: dict[str, Any] = {"output_names": ["y"], "input_names": ["x", "lower", "upper"]}
    return call("MatrixBandPart", x, _band(lower), _band(upper), **names)


def _whole(number: Any) -> Tensor:
    return number if isinstance(number, Tensor) else Tensor(np.asarray(number, np.int32))


def matrix_diag(
    x: Any, k: Any = 0, num_rows: Any = -1, num_cols: Any = -1, padding_value: Any = 0, align: str = "RIGHT_LEFT"
) -> Any:
    """The last axis of ``x`` on diagonal ``k`` of new matrices of ``padding_value``."""
    padding = padding_value if isinstance(padding_value, Tensor) else Tensor(np.asarray(padding_value), x.dtype)
    names: dict[str, Any] = {"output_names": ["y"], "input_names": ["x", "k", "num_rows", "num_cols", "padding_value"]}
    return call("MatrixDiagV3", x, _whole(k), _whole(num_rows), _whole(num_cols), padding, **names, align=align)


def diagonal_names(align: str) -> dict[str, Any]:
    """Attributes of MatrixDiagPartV3.

    Raises:
        SettingError: ``align`` is none of the four.
    """
    return {
        "output_names": ["y"], "input_names": ["x", "k", "padding_value"], "max_length": 200000000,
        "align": aligned("MatrixDiagPartV3", align),
    }  # fmt: skip


def aligned(owner: str, align: str) -> str:
    """``align``, if it is one of the four ways to align short diagonals; else ``SettingError``."""
    if align not in ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"):
        raise SettingError(f"{owner}: align must be LEFT or RIGHT for those above and below, got {align!r}")
    return align


def matrix_diag_part(x: Any, k: Any, padding_value: Any, align: str = "RIGHT_LEFT") -> Any:
    """Diagonal ``k`` of matrices ``x`` (..., m, n), or those from ``k[0]`` to ``k[1]``, the highest first, short ones
    filled with ``padding_value``."""
    return call("MatrixDiagPartV3", x, k, padding_value, **diagonal_names(align))


def matrix_set_diag(x: Any, diagonal: Any, k: Any = 0, align: str = "RIGHT_LEFT") -> Any:
    """Matrices with diagonal ``k`` replaced."""
    names: dict[str, Any] = {"output_names": ["y"], "input_names": ["x", "diagonal", "k"], "max_length": 200000000}
    return call("MatrixSetDiagV3", x, diagonal, _whole(k), **names, align=align)


def hann_window(window_length: int, periodic: bool = True, *, dtype: Any = None) -> Tensor:
    """Half a cosine's wave, raised: a constant of ``window_length`` elements."""
    count = window_length + periodic
    places = np.arange(count) if count > 1 else np.zeros(1)
    angle = 2 * np.longdouble("3.14159265358979323846264338327950288") * places / max(1, count - 1)
    found = np.asarray(0.5 - 0.5 * np.cos(angle)) if window_length > 1 else np.ones(window_length)
    return Tensor(found[:window_length].astype(np.float64), dtypes.float64 if dtype is None else dtype)


def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None) -> Tensor:
    """Kaiser's window of parameter ``beta``: a constant of ``window_length`` elements."""
    count, width = window_length + periodic, np.asarray(beta, np.longdouble)
    middle = np.asarray(max(count - 1, 1), np.longdouble) / 2
    size = width * np.sqrt(np.maximum(0, 1 - ((np.arange(count) - middle) / middle) ** 2))
    found = scaled(0, size) * np.exp(size) / (scaled(0, width) * np.exp(width))
    found = found if window_length > 1 else np.ones(window_length)
    return Tensor(found[:window_length].astype(np.float64), dtypes.float64 if dtype is None else dtype)
