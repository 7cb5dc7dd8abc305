"""Primitives that pick elements, and those that make constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework.ops.functions import create, indexing
from harness.framework.ops.functions.shape import as_dtype, sizes
from harness.framework.ops.primitive import Primitive, plain
from harness.framework.ops.primitives.shape import Bare, axis_setting
from harness.framework.tensor import Tensor, call

__all__ = [
    "Eye", "Fill", "FillV2", "Gather", "GatherD", "GatherNd", "LinSpace", "MaskedFill", "OneHot", "Ones", "OnesLike",
    "Range", "ScatterNd", "TensorScatterElements", "TensorScatterUpdate", "Tril", "Triu", "UnsortedSegmentSum", "Zeros",
    "ZerosLike",
]  # fmt: skip

GatherD, GatherNd, MaskedFill = plain("GatherD", "GatherNd", "MaskedFill").values()


class Gather(Primitive):
    """Slices at given positions of an axis."""

    def __init__(self, batch_dims: int = 0) -> None:
        super().__init__()
        self.batch_dims = axis_setting("Gather", batch_dims)

    def __call__(self, input_params: Any, input_indices: Any, axis: Any) -> Any:
        return indexing.gather(input_params, input_indices, axis, self.batch_dims)


class OneHot(Primitive):
    """One value where the index is, another elsewhere, along a new axis."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis_setting("OneHot", axis)

    def __call__(self, indices: Any, depth: int, on_value: Any, off_value: Any) -> Any:
        for name, value in (("on_value", on_value), ("off_value", off_value)):
            if not isinstance(value, Tensor):
                raise SettingTypeError(f"OneHot: {name} must be a tensor, got {value!r}")
        return indexing.one_hot(indices, depth, on_value, off_value, self.axis)


class ScatterNd(Bare):
    """Zeros with slices added at coordinates."""

    def __call__(self, indices: Any, updates: Any, shape: Any) -> Any:
        return indexing.scatter_nd(indices, updates, shape)


class TensorScatterUpdate(Primitive):
    """A tensor with slices replaced at coordinates."""

    def __init__(self) -> None:
        super().__init__(attrs={"output_names": ["y"], "input_names": ["input_x", "indices", "updates"]})


class TensorScatterElements(Primitive):
    """A tensor with elements replaced (or added to) along an axis."""

    def __init__(self, axis: int = 0, reduction: str = "none") -> None:
        super().__init__()
        self.axis, self.reduction = axis_setting("TensorScatterElements", axis), reduction

    def __call__(self, input_x: Any, indices: Any, updates: Any) -> Any:
        return indexing.tensor_scatter_elements(input_x, indices, updates, self.axis, self.reduction)


class UnsortedSegmentSum(Bare):
    """Sums of the slices that share a segment number."""

    def __call__(self, input_x: Any, segment_ids: Any, num_segments: Any) -> Any:
        return indexing.unsorted_segment_sum(input_x, segment_ids, num_segments)


class Tril(Primitive):
    """The part of each matrix on and below a diagonal."""

    def __init__(self, diagonal: int = 0) -> None:
        super().__init__(
            attrs={"output_names": ["y"], "diagonal": axis_setting("Tril", diagonal, "diagonal"), "input_names": ["x"]}
        )


class Triu(Primitive):
    """The part of each matrix on and above a diagonal."""

    def __init__(self, diagonal: int = 0) -> None:
        super().__init__(trailing=(axis_setting("Triu", diagonal, "diagonal"),))


class ZerosLike(Bare):
    """Zeros like a tensor (a constant where the shape is known)."""

    def __call__(self, x: Any) -> Any:
        return create.zeros_like(x)


class OnesLike(Bare):
    """Ones like a tensor (a constant where the shape is known)."""

    def __call__(self, x: Any) -> Any:
        return create.ones_like(x)


class Zeros(Bare):
    """Zeros of a shape and dtype."""

    def __call__(self, size: Any, dtype: Any) -> Tensor:
        return create.zeros(size, dtype)


class Ones(Bare):
    """Ones of a shape and dtype."""

    def __call__(self, shape: Any, dtype: Any) -> Tensor:
        return create.ones(shape, dtype)


class Fill(Bare):
    """One value in a dtype and shape."""

    def __call__(self, type: Any, shape: Any, value: Any) -> Tensor:
        return create.fill(type, shape, value)


class FillV2(Primitive):
    """The value of a tensor without dimensions in a shape (a constant where the value is known)."""

    def __init__(self) -> None:
        super().__init__(attrs={"output_names": ["y"], "input_names": ["shape", "value"]})

    def __call__(self, shape: Any, value: Any) -> Any:
        if type(shape) is Tensor:
            if shape.dtype not in (dtypes.int32, dtypes.int64):
                raise SettingTypeError(f"FillV2: the shape must be Int32 or Int64, got {shape.dtype}")
            if len(shape.shape) != 1:
                raise SettingError(f"FillV2: the shape must have one axis, got {list(shape.shape)}")
            shape = tuple(shape.asnumpy().tolist())
        if not isinstance(value, Tensor):
            raise SettingTypeError(f"FillV2: the value must be a tensor, got {value!r}")
        if type(value) is Tensor:
            return create.full(shape, value.asnumpy().reshape(()), dtype=value.dtype)
        return call("FillV2", sizes((shape,)), value, **self.attrs, **self.marks)


class Eye(Bare):
    """Ones on the diagonal of a matrix."""

    def __call__(self, n: int, m: int, t: Any) -> Any:
        return create.eye(n, m, as_dtype(t))


class LinSpace(Bare):
    """Numbers at even distances."""

    def __call__(self, start: Any, stop: Any, num: int) -> Any:
        return create.linspace(start, stop, num)


class Range(Primitive):
    """Numbers from one bound to another by a step (a constant: the bounds must be known)."""

    def __init__(self, maxlen: int = 1000000) -> None:
        super().__init__()
        self.maxlen = maxlen

    def __call__(self, start: Any, end: Any, step: Any) -> Tensor:
        limits = [v.item() if isinstance(v, Tensor) else v for v in (start, end, step)]
        if (limits[1] - limits[0]) * limits[2] < 0:
            raise SettingError(f"Range: a step of {limits[2]} does not lead from {limits[0]} to {limits[1]}")
        first = start if isinstance(start, Tensor) else Tensor(np.asarray(start))
        return create.range(first, end, step, self.maxlen)
