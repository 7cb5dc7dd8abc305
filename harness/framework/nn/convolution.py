"""Convolution layers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import IndexRangeError, SettingError, SettingTypeError, UnsupportedError
from harness.framework import context
from harness.framework.nn import checks
from harness.framework.nn.cell import Cell
from harness.framework.nn.fan import fans
from harness.framework.nn.initializer import HeUniform, Uniform, initializer
from harness.framework.nn.namespace import ops
from harness.framework.tensor import Parameter, Tensor, is_eager

__all__ = ["Conv1d", "Conv2d", "Conv2dTranspose"]

_PAD_MODES = ("valid", "same", "pad")


def require_nchw(data_format: str, owner: str) -> str:
    """Returns ``"NCHW"``; refuses anything else, and names the device that has NHWC."""
    checks.among(data_format, ("NCHW", "NHWC"), "data_format", owner)
    if data_format == "NHWC":
        target = context.get_context("device_target")
        raise UnsupportedError(f"{owner}: data_format 'NHWC' exists on GPU only, the device is {target}")
    return data_format


class _Conv(Cell):
    """Shared parts of convolutions: settings, and the parameters ``weight`` and ``bias``."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        pad_mode: str,
        padding: Any,
        dilation: tuple[int, ...],
        group: int,
        has_bias: bool,
        weight_init: Any,
        bias_init: Any,
        data_format: str,
        transposed: bool,
        dtype: DType,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.in_channels = checks.positive_int(in_channels, "in_channels", owner)
        self.out_channels = checks.positive_int(out_channels, "out_channels", owner)
        self.group = checks.positive_int(group, "group", owner)
        if in_channels % group or out_channels % group:
            raise SettingError(f"{owner}: in_channels {in_channels} and out_channels {out_channels} must be divisible "
                               f"by group {group}")  # fmt: skip
        self.kernel_size = kernel_size
        self.stride = stride
        self.pad_mode = checks.among(pad_mode, _PAD_MODES, "pad_mode", owner)
        self.padding = self._check_padding(padding)
        self.dilation = dilation
        self.has_bias = checks.boolean(has_bias, "has_bias", owner)
        self.data_format = require_nchw(data_format, owner)
        first, second = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        self._make_parameters((first, second // group, *kernel_size), weight_init, bias_init, dtype)

    def _make_parameters(self, shape: tuple[int, ...], weight_init: Any, bias_init: Any, dtype: DType) -> None:
        """``weight`` of ``shape`` and, where there is one, ``bias``, drawn in this order."""
        self.weight_init = HeUniform(math.sqrt(5)) if weight_init is None else weight_init
        self.weight = Parameter(initializer(self.weight_init, shape, dtype), name="weight")
        self.bias = None
        self.bias_init = bias_init
        if self.has_bias:
            if bias_init is None:
                self.bias_init = Uniform(1 / math.sqrt(fans(shape)[0]))
            self.bias = Parameter(initializer(self.bias_init, (self.out_channels,), dtype), name="bias")

    def _check_padding(self, padding: Any) -> Any:
        if not isinstance(padding, (int, tuple)) or isinstance(padding, bool):
            raise SettingTypeError(
                f"{self.cls_name}: padding must be an int or a tuple of ints, got {type(padding).__name__}"
            )
        for amount in padding if isinstance(padding, tuple) else (padding,):
            checks.count(amount, "padding", self.cls_name)
        return padding

    def _primitive(self) -> Any:
        return ops.Conv2D(
            out_channel=self.out_channels, kernel_size=self.kernel_size, mode=1, pad_mode=self.pad_mode,
            pad=self.padding, stride=self.stride, dilation=self.dilation, group=self.group,
            data_format=self.data_format,
        )  # fmt: skip

    def extend_repr(self) -> str:
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}, "
            f"padding={self.padding}, dilation={self.dilation}, group={self.group}, has_bias={self.has_bias}, "
            f"weight_init={self.weight_init}, bias_init={self.bias_init}, format={self.data_format}"
        )


class Conv2d(_Conv):
    """2-D convolution over (N, C, H, W); weight (out_channels, in_channels // group, *kernel_size)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        data_format: str = "NCHW",
        dtype: DType = dtypes.float32,
    ) -> None:
        owner = type(self).__name__
        super().__init__(
            in_channels, out_channels, checks.pair(kernel_size, "kernel_size", owner),
            checks.pair(stride, "stride", owner), pad_mode, padding, checks.pair(dilation, "dilation", owner), group,
            has_bias, weight_init, bias_init, data_format, False, dtype,
        )  # fmt: skip
        self.conv2d = self._primitive()
        self.bias_add = ops.BiasAdd(data_format=self.data_format)

    def construct(self, x: Tensor) -> Any:
        output = self.conv2d(x, self.weight)
        if self.has_bias:
            output = self.bias_add(output, self.bias)
        return output


class Conv1d(_Conv):
    """1-D convolution over (N, C, L), as a 2-D one of height 1; weight (out_channels, in_channels // group, 1, k)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        pad_mode: str = "same",
        padding: int = 0,
        dilation: int = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: DType = dtypes.float32,
    ) -> None:
        owner = type(self).__name__
        if isinstance(weight_init, Tensor):
            if len(weight_init.shape) != 3:
                raise SettingError(f"{owner}: weight_init must have 3 dimensions, got shape {weight_init.shape}")
            weight_init = Tensor(np.expand_dims(weight_init.asnumpy(), 2), weight_init.dtype)
        amount = checks.count(padding, "padding", owner)
        super().__init__(
            in_channels, out_channels, (1, checks.positive_int(kernel_size, "kernel_size", owner)),
            (1, checks.positive_int(stride, "stride", owner)), pad_mode, (0, 0, amount, amount),
            (1, checks.positive_int(dilation, "dilation", owner)), group, has_bias, weight_init, bias_init, "NCHW",
            False, dtype,
        )  # fmt: skip
        self.conv2d = self._primitive()
        self.bias_add = ops.BiasAdd()
        self.expand_dims = ops.ExpandDims()
        self.squeeze = ops.Squeeze(2)

    def construct(self, x: Tensor) -> Any:
        x = self.expand_dims(x, 2)
        output = self.conv2d(x, self.weight)
        if self.has_bias:
            output = self.bias_add(output, self.bias)
        return self.squeeze(output)


def _check_output_padding(given: Any, pad_mode: Any, stride: Any, dilation: Any, owner: str) -> None:
    """``SettingError`` for what MindSpore refuses: numbers from 0 up to the stride or dilation, in mode ``pad``."""
    around = (given, given) if isinstance(given, int) else tuple(given)
    if len(around) != 2:
        raise SettingError(f"{owner}: output_padding must be an int or two ints, got {given!r}")
    steps = zip(around, checks.pair(stride, "stride", owner), checks.pair(dilation, "dilation", owner), strict=True)
    if any(not 0 <= n < max(s, d) for n, s, d in steps):
        raise SettingError(f"{owner}: output_padding must be below the stride or dilation, from 0 on, got {given!r}")
    if any(around) and pad_mode != "pad":
        raise SettingError(f"{owner}: output_padding must be 0 unless pad_mode is 'pad', got {given!r}")


class Conv2dTranspose(_Conv):
    """The gradient of a 2-D convolution as a layer; weight (in_channels, out_channels // group, *kernel_size)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: DType = dtypes.float32,
    ) -> None:
        owner = type(self).__name__
        _check_output_padding(output_padding, pad_mode, stride, dilation, owner)
        if isinstance(padding, tuple) and len(padding) != 4:
            raise SettingError(f"{owner}: padding must be an int or a tuple of 4 ints, got {padding!r}")
        super().__init__(
            in_channels, out_channels, checks.pair(kernel_size, "kernel_size", owner),
            checks.pair(stride, "stride", owner), pad_mode, padding, checks.pair(dilation, "dilation", owner), group,
            has_bias, weight_init, bias_init, "NCHW", True, dtype,
        )  # fmt: skip
        self.output_padding = output_padding
        self.conv2d_transpose = ops.Conv2DTranspose(
            out_channel=in_channels, kernel_size=self.kernel_size, mode=1, pad_mode=pad_mode, pad=padding,
            stride=self.stride, dilation=self.dilation, group=group,
        )  # fmt: skip
        self.bias_add = ops.BiasAdd()
        below = (output_padding,) * 2 if isinstance(output_padding, int) else tuple(output_padding)
        self.pad = ops.Pad(((0, 0), (0, 0), *((0, each) for each in below))) if any(below) else None
        self._pads: tuple[int, ...] = padding if isinstance(padding, tuple) else (padding,) * 4

    def _length(self, length: int, axis: int) -> int:
        """Length of an axis after the transposed convolution."""
        window = (self.kernel_size[axis] - 1) * self.dilation[axis] + 1
        if self.pad_mode == "same":
            return length * self.stride[axis]
        if self.pad_mode == "valid":
            return length * self.stride[axis] + max(window - self.stride[axis], 0)
        pads = self._pads[2 * axis] + self._pads[2 * axis + 1]
        return (length - 1) * self.stride[axis] + window - pads

    def construct(self, x: Tensor) -> Any:
        if 0 < len(x.shape) < 4 and not is_eager():
            raise IndexRangeError(f"{self.cls_name}: four axes are needed, got {x.shape}")
        n, _, h, w = x.shape
        size = (n, self.out_channels, self._length(h, 0), self._length(w, 1))
        output = self.conv2d_transpose(x, self.weight, size)
        if self.has_bias:
            output = self.bias_add(output, self.bias)
        # Zeros behind the bias (tests/framework/nn/test_around.py).
        return output if self.pad is None else self.pad(output)
