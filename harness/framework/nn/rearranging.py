"""Small layers: thresholds, gates, channels and axes rearranged, statistics, images.

Source of the operators each becomes: MindSpore 2.10.0, measured.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import KernelError, SettingError, SettingTypeError, ShapeError
from harness.framework.nn import checks
from harness.framework.nn.cell import Cell
from harness.framework.nn.initializer import Uniform, initializer
from harness.framework.nn.namespace import ops
from harness.framework.ops.functions.activation import rrelu
from harness.framework.ops.functions.layers import bidense
from harness.framework.tensor import Parameter, Tensor

__all__ = [
    "GLU", "BiDense", "CentralCrop", "ChannelShuffle", "ImageGradients", "L1Regularizer", "MatDet", "MatInverse",
    "MatrixDiag", "MatrixDiagPart", "MatrixSetDiag", "Moments", "MultilabelMarginLoss", "RReLU", "ReduceLogSumExp",
    "Roll", "Threshold", "TimeDistributed", "Unflatten", "Unfold",
]  # fmt: skip


class Threshold(Cell):
    """x above ``threshold``, else ``value``."""

    def __init__(self, threshold: float, value: float) -> None:
        super().__init__()
        self.threshold = checks.number(threshold, "threshold", self.cls_name)
        self.value = checks.number(value, "value", self.cls_name)

    def construct(self, input_x: Tensor) -> Any:
        return ops.threshold(input_x, self.threshold, self.value)


class GLU(Cell):
    """The first half along ``axis``, weighted by the sigmoid of the second."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.dim = axis
        self.sigmoid = ops.Sigmoid()

    def construct(self, x: Any) -> Any:
        first, second = ops.Split(self.dim, 2)(x)
        return first * self.sigmoid(second)


class RReLU(Cell):
    """x above 0, below it times a number drawn for each element, uniform in [lower, upper)."""

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> None:
        super().__init__()
        if not 0 <= lower <= upper <= 1:
            raise SettingError(f"{self.cls_name}: 0 <= lower <= upper <= 1 must hold, got {lower} and {upper}")
        self.lower, self.upper = lower, upper

    def construct(self, x: Tensor) -> Any:
        return rrelu(x, self.lower, self.upper)


class ChannelShuffle(Cell):
    """Channels of (N, C, ...) taken in turn from each of ``groups`` groups."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = checks.positive_int(groups, "groups", self.cls_name)

    def construct(self, x: Tensor) -> Any:
        shape = tuple(x.shape)
        if len(shape) < 3 or shape[1] % self.groups:
            raise ShapeError(f"{self.cls_name}: the channels of {list(shape)} must divide into {self.groups} groups")
        parts = ops.Reshape()(x, (shape[0], self.groups, shape[1] // self.groups, -1))
        return ops.Reshape()(ops.Transpose()(parts, (0, 2, 1, 3)), shape)


class Roll(Cell):
    """Elements moved along axes; what leaves at one end comes in at the other."""

    def __init__(self, shift: Any, axis: Any) -> None:
        super().__init__()
        self.shift, self.axis = shift, axis

    def construct(self, input_x: Tensor) -> Any:
        return ops.roll(input_x, self.shift, self.axis)


class Unflatten(Cell):
    """One axis made into several of lengths ``unflattened_size``."""

    def __init__(self, axis: int, unflattened_size: Any) -> None:
        super().__init__()
        if isinstance(axis, bool) or not isinstance(axis, int):
            raise SettingTypeError(f"{self.cls_name}: axis must be an int, got {axis!r}")
        if not isinstance(unflattened_size, (tuple, list)):
            raise SettingTypeError(f"{self.cls_name}: unflattened_size must be a tuple, got {unflattened_size!r}")
        self.axis, self.unflattened_size = axis, tuple(unflattened_size)

    def construct(self, input_x: Tensor) -> Any:
        axis = self.axis % len(input_x.shape)
        return ops.Reshape()(input_x, (*input_x.shape[:axis], *self.unflattened_size, *input_x.shape[axis + 1 :]))


class BiDense(Cell):
    """x1 W x2 + b; weight (out_channels, in1_channels, in2_channels), bias (out_channels,)."""

    def __init__(
        self, in1_channels: int, in2_channels: int, out_channels: int, weight_init: Any = None, bias_init: Any = None,
        has_bias: bool = True, dtype: DType = dtypes.float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self.in1_channels = checks.positive_int(in1_channels, "in1_channels", self.cls_name)
        self.in2_channels = checks.positive_int(in2_channels, "in2_channels", self.cls_name)
        self.out_channels = checks.positive_int(out_channels, "out_channels", self.cls_name)
        self.has_bias = checks.boolean(has_bias, "has_bias", self.cls_name)
        bound = 1 / math.sqrt(in1_channels)
        weight = initializer(weight_init or Uniform(bound), (out_channels, in1_channels, in2_channels), dtype)
        self.weight = Parameter(weight, name="weight")
        if has_bias:
            self.bias = Parameter(initializer(bias_init or Uniform(bound), (out_channels,), dtype), name="bias")

    def construct(self, input1: Tensor, input2: Tensor) -> Any:
        return bidense(input1, input2, self.weight, self.bias if self.has_bias else None)

    def extend_repr(self) -> str:
        text = f"in1_channels={self.in1_channels}, in2_channels={self.in2_channels}, out_channels={self.out_channels}"
        return f"{text}, has_bias={self.has_bias}"


class Moments(Cell):
    """Mean and variance over ``axis`` (None: over all)."""

    def __init__(self, axis: Any = None, keep_dims: bool | None = None) -> None:
        super().__init__()
        self.axis = () if axis is None else axis
        self.keep_dims = False if keep_dims is None else checks.boolean(keep_dims, "keep_dims", self.cls_name)
        self.reduce_mean = ops.ReduceMean(keep_dims=True)

    def construct(self, x: Any) -> Any:
        wide = ops.Cast()(x, dtypes.float32) if x.dtype is dtypes.float16 else x
        mean = self.reduce_mean(wide, self.axis)
        variance = self.reduce_mean(ops.SquaredDifference()(wide, ops.stop_gradient(mean)), self.axis)
        if not self.keep_dims:
            squeeze = ops.Squeeze(self.axis if self.axis != () else tuple(range(len(x.shape))))
            mean, variance = squeeze(mean), squeeze(variance)
        if x.dtype is dtypes.float16:
            return ops.Cast()(mean, dtypes.float16), ops.Cast()(variance, dtypes.float16)
        return mean, variance


class ReduceLogSumExp(Cell):
    """Logarithm of the sum of exponentials over ``axis``."""

    def __init__(self, axis: Any, keep_dims: bool = False) -> None:
        super().__init__()
        self.axis = axis
        self.sum = ops.ReduceSum(checks.boolean(keep_dims, "keep_dims", self.cls_name))
        self.max = ops.ReduceMax()

    def construct(self, x: Any) -> Any:
        highest = self.max(x)
        return ops.Log()(self.sum(ops.Exp()(x - highest), self.axis)) + highest


class L1Regularizer(Cell):
    """``scale`` times the sum of absolute values."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        if isinstance(scale, bool) or not isinstance(scale, (int, float)):
            raise SettingTypeError(f"{self.cls_name}: scale must be a number, got {scale!r}")
        if scale <= 0 or math.isinf(scale) or math.isnan(scale):
            raise SettingError(f"{self.cls_name}: scale must be finite and above 0, got {scale!r}")
        self.scale = Tensor(scale, dtypes.float32)

    def construct(self, weights: Any) -> Any:
        return self.scale * ops.ReduceSum()(ops.Abs()(weights))


class TimeDistributed(Cell):
    """A layer applied to every step of an axis.

    Args:
        layer: a cell or a primitive.
        time_axis: the axis of the steps.
        reshape_with_axis: an axis the steps are joined with for one call of the layer; None calls it for each step.
    """

    def __init__(self, layer: Any, time_axis: int, reshape_with_axis: int | None = None) -> None:
        super().__init__()
        if not isinstance(layer, (Cell, ops.Primitive)):
            raise SettingTypeError(f"{self.cls_name}: layer must be a Cell or a Primitive, got {type(layer).__name__}")
        self.layer = layer
        self.time_axis = time_axis
        self.reshape_with_axis = reshape_with_axis
        self.reshape = ops.Reshape()

    def construct(self, inputs: Any) -> Any:
        rank = len(inputs.shape)
        time = self.time_axis % rank
        if self.reshape_with_axis is None:
            steps = [self.layer(step) for step in ops.Unstack(time)(inputs)]
            return ops.Stack(time)(steps)
        other = self.reshape_with_axis % rank
        if abs(time - other) != 1:
            raise SettingError(f"{self.cls_name}: reshape_with_axis {other} must be beside time_axis {time}")
        at = min(time, other)
        shape = inputs.shape
        out = self.layer(self.reshape(inputs, (*shape[:at], -1, *shape[at + 2 :])))
        both = (shape[at], -1) if at == time else (-1, shape[at + 1])
        return self.reshape(out, (*out.shape[:at], *both, *out.shape[at + 1 :]))


class ImageGradients(Cell):
    """Differences of neighbours along H and W of (N, C, H, W), 0 at the end."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, images: Any) -> Any:
        if len(images.shape) != 4:
            raise ShapeError(f"{self.cls_name}: (N, C, H, W) is needed, got shape {images.shape}")
        n, c, h, w = images.shape
        down = images[:, :, 1:, :] - images[:, :, : h - 1, :]
        along = images[:, :, :, 1:] - images[:, :, :, : w - 1]
        down = ops.Concat(2)((down, Tensor(np.zeros((n, c, 1, w)), images.dtype)))
        return down, ops.Concat(3)((along, Tensor(np.zeros((n, c, h, 1)), images.dtype)))


class CentralCrop(Cell):
    """The middle of images (C, H, W) or (N, C, H, W): ``central_fraction`` of each side."""

    def __init__(self, central_fraction: float) -> None:
        super().__init__()
        if not isinstance(central_fraction, float):
            raise SettingTypeError(f"{self.cls_name}: central_fraction must be a float, got {central_fraction!r}")
        if not 0 < central_fraction <= 1:
            raise SettingError(f"{self.cls_name}: central_fraction must lie in (0, 1], got {central_fraction!r}")
        self.central_fraction = central_fraction

    def construct(self, image: Any) -> Any:
        shape = image.shape
        if len(shape) not in (3, 4):
            raise ShapeError(f"{self.cls_name}: 3 or 4 axes are needed, got shape {shape}")
        if self.central_fraction == 1.0:
            return image
        lead = len(shape) - 2
        begin = [int((n - n * self.central_fraction) / 2) for n in shape[-2:]]
        size = [n - 2 * first for n, first in zip(shape[-2:], begin, strict=True)]
        return ops.Slice()(image, ((0,) * lead + tuple(begin)), (*shape[:lead], *size))


class _NoKernel(Cell):
    """A layer whose operator a CPU has no kernel for (measured)."""

    _op = ""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, *args: Any) -> Any:
        raise KernelError(f"nn.{self.cls_name} has no CPU kernel ({self._op})")


class MatDet(_NoKernel):
    """Determinants; refused."""

    _op = "DetTriangle"


class MatInverse(_NoKernel):
    """Inverses; refused."""

    _op = "CholeskyTrsm"


class MatrixDiag(_NoKernel):
    """Matrices with a diagonal; refused, as ``ops.diag`` is not."""

    _op = "MatrixDiag"


class MatrixDiagPart(_NoKernel):
    """Diagonals of matrices; refused."""

    _op = "MatrixDiagPart"


class MatrixSetDiag(_NoKernel):
    """Matrices with another diagonal; refused."""

    _op = "MatrixSetDiag"


class MultilabelMarginLoss(_NoKernel):
    """Margins between the classes of several labels; refused."""

    _op = "MultilabelMarginLoss"

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction


class Unfold(_NoKernel):
    """Patches of images; refused."""

    _op = "ExtractImagePatches"

    def __init__(self, ksizes: Any, strides: Any, rates: Any, padding: str = "valid") -> None:
        super().__init__()
        self.ksizes, self.strides, self.rates, self.padding = ksizes, strides, rates, padding
