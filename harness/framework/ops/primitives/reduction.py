"""Primitives that reduce, search and accumulate."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.dtypes import DType
from harness.errors import DtypeError
from harness.framework.ops.functions.search import INDEX, TOP_K, k_tensor
from harness.framework.ops.primitive import Primitive
from harness.framework.ops.reduce import axes_of
from harness.framework.tensor import call

__all__ = [
    "ArgMaxWithValue", "ArgMinWithValue", "Argmax", "Argmin", "CumProd", "CumSum", "NonZero", "ReduceAll",
    "ReduceAny", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "Sort", "TopK",
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
