"""Primitives that reduce, search and accumulate."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.dtypes import DType
from harness.errors import DtypeError, SettingTypeError
from harness.framework.ops.functions.search import INDEX, TOP_K, k_tensor
from harness.framework.ops.primitive import Primitive
from harness.framework.ops.reduce import axes_of
from harness.framework.tensor import call

__all__ = [
    "ArgMaxWithValue", "ArgMinWithValue", "Argmax", "Argmin", "CumProd", "CumSum", "Cummax", "Cummin",
    "CumulativeLogsumexp", "Histogram", "Median", "NonZero", "ReduceAll", "ReduceAny", "ReduceMax", "ReduceMean",
    "ReduceMin", "ReduceProd", "ReduceStd", "ReduceSum", "Renorm", "Sort", "TopK", "UniqueConsecutive",
]  # fmt: skip


class _Reduce(Primitive):
    def __init__(self, keep_dims: bool = False) -> None:
        super().__init__()
        self.keep_dims = keep_dims

    def __call__(self, x: Any, axis: Any = ()) -> Any:
        return call(self.name, x, axes_of(axis), self.keep_dims, *self.trailing, **self.marks)


class ReduceAll(_Reduce):
    """Whether all hold, over axes."""


class ReduceAny(_Reduce):
    """Whether one holds, over axes."""


class ReduceMax(_Reduce):
    """The largest, over axes."""


class ReduceMean(_Reduce):
    """Mean over axes."""


class ReduceMin(_Reduce):
    """The smallest, over axes."""


class ReduceProd(_Reduce):
    """Product over axes."""


class ReduceSum(_Reduce):
    """Sum over axes; with ``skip_mode`` no axes mean no reduction."""

    def __init__(self, keep_dims: bool = False, skip_mode: bool = False) -> None:
        super().__init__(keep_dims)
        self.trailing = (skip_mode,)


class _Place(Primitive):
    def __init__(self, axis: int = -1, output_type: DType = dtypes.int32) -> None:
        if output_type.name not in INDEX:
            raise DtypeError(f"{self.name}: output_type must be one of {', '.join(INDEX)}, got {output_type}")
        super().__init__(trailing=(axis, INDEX[output_type.name]))


class Argmax(_Place):
    """The index of the largest element."""


class Argmin(_Place):
    """The index of the smallest element."""


class _PlaceAndValue(Primitive):
    def __init__(self, axis: int = 0, keep_dims: bool = False) -> None:
        super().__init__(trailing=(axis, keep_dims))


class ArgMaxWithValue(_PlaceAndValue):
    """The index of the largest element, and its value."""


class ArgMinWithValue(_PlaceAndValue):
    """The index of the smallest element, and its value."""


class _Cumulative(Primitive):
    def __init__(self, exclusive: bool = False, reverse: bool = False) -> None:
        super().__init__(trailing=(exclusive, reverse))


class CumSum(_Cumulative):
    """Running sum along an axis."""


class CumProd(_Cumulative):
    """Running product along an axis."""


class NonZero(Primitive):
    """The places where a tensor is not 0."""

    def __init__(self) -> None:
        super().__init__(attrs={"output_is_dynamic_shape": True})


class Sort(Primitive):
    """Sorted values along an axis, and their former places."""

    def __init__(self, axis: int = -1, descending: bool = False) -> None:
        names = {"output_names": ["y1", "y2"], "descending": descending, "input_names": ["x"], "axis": axis}
        super().__init__(attrs=names)


class TopK(Primitive):
    """The largest elements of the last axis."""

    def __init__(self, sorted: bool = True) -> None:
        super().__init__(attrs={**TOP_K, "sorted": sorted})

    def __call__(self, input_x: Any, k: int) -> Any:
        return call("TopK", input_x, k_tensor(k), **self._ordered(), **self.marks)

    def _ordered(self) -> dict[str, Any]:
        return {name: self.attrs[name] for name in ("output_names", "sorted", "input_names")}


class ReduceStd(Primitive):
    """Deviation and mean."""

    def __init__(self, axis: Any = (), unbiased: bool = True, keep_dims: bool = False) -> None:
        super().__init__(trailing=((axis,) if isinstance(axis, int) else tuple(axis), unbiased, keep_dims))


class Cummax(Primitive):
    """The largest so far, and its place."""

    def __init__(self, axis: int) -> None:
        super().__init__(trailing=(axis,))


class Cummin(Cummax):
    """The smallest so far, and its place."""


class Histogram(Primitive):
    """How many elements lie in each of equal parts."""

    def __init__(self, bins: int = 100, min: float = 0.0, max: float = 0.0) -> None:
        settings = {"input_names": ["x"], "max": float(max), "min": float(min), "output_names": ["y"]}
        super().__init__(attrs={"bins": bins, **settings})


class Renorm(Primitive):
    """Slices brought down to a norm."""

    def __init__(self, p: int, dim: int, maxnorm: float) -> None:
        names = {"input_names": ["x"], "output_names": ["y"], "dim": dim}
        super().__init__(attrs={"p": float(p), "maxnorm": float(maxnorm), **names})


class Median(Primitive):
    """The median along an axis, and its place."""

    def __init__(
        self, global_median: bool = False, axis: int = 0, keep_dims: bool = False, ignore_nan: bool = False
    ) -> None:
        super().__init__(attrs={
            "keep_dims": keep_dims, "cust_aicpu": "Median", "input_names": ["x"], "axis": axis,
            "output_names": ["y", "indices"], "global_median": global_median, "ignore_nan": ignore_nan,
        })  # fmt: skip


class UniqueConsecutive(Primitive):
    """Each run of equal elements once."""

    def __init__(self, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> None:
        flags = (return_inverse, return_counts, dim)
        super().__init__(attrs={"output_is_dynamic_shape": True}, trailing=flags)


class CumulativeLogsumexp(Primitive):
    """The logarithm of running sums of exponentials."""

    def __init__(self, exclusive: bool = False, reverse: bool = False) -> None:
        for value in (exclusive, reverse):
            if not isinstance(value, bool):
                raise SettingTypeError(f"CumulativeLogsumexp: exclusive and reverse must be bools, got {value!r}")
        names = {"output_names": ["y"], "reverse": reverse, "input_names": ["x", "axis"]}
        super().__init__(attrs={**names, "exclusive": exclusive})
