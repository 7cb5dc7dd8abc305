"""Layers over volumes (n, c, d, h, w), and transposed convolution of sequences."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.dtypes import DType
from harness.errors import SettingError, ShapeError
from harness.framework.nn import checks
from harness.framework.nn.cell import Cell
from harness.framework.nn.convolution import _Conv
from harness.framework.nn.namespace import ops
from harness.framework.nn.normalization import BatchNorm2d
from harness.framework.nn.pooling import _batched
from harness.framework.ops.functions.pooling import adaptive_avg_pool3d, adaptive_max_pool3d

__all__ = [
    "AdaptiveAvgPool3d", "AdaptiveMaxPool3d", "AvgPool3d", "BatchNorm3d", "Conv1dTranspose", "Conv3d",
    "Conv3dTranspose", "MaxPool3d", "MaxUnpool3d",
]  # fmt: skip


def triple(value: Any, name: str, owner: str) -> tuple[int, int, int]:
    """Three ints above 0, of one or of three."""
    sides = (value,) * 3 if isinstance(value, int) else tuple(value)
    if len(sides) != 3:
        raise SettingError(f"{owner}: {name} must be an int or three of them, got {value!r}")
    return tuple(checks.positive_int(n, name, owner) for n in sides)  # type: ignore[return-value]


def _ncdhw(data_format: str, owner: str) -> None:
    checks.among(data_format, ("NCDHW",), "data_format", owner)


class Conv3d(_Conv):
    """3-D convolution over (N, C, D, H, W); weight (out_channels, in_channels // group, *kernel_size)."""

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
        data_format: str = "NCDHW",
        dtype: DType = dtypes.float32,
    ) -> None:
        owner = type(self).__name__
        _ncdhw(data_format, owner)
        super().__init__(
            in_channels, out_channels, triple(kernel_size, "kernel_size", owner), triple(stride, "stride", owner),
            pad_mode, padding, triple(dilation, "dilation", owner), group, has_bias, weight_init, bias_init, "NCHW",
            False, dtype,
        )  # fmt: skip
        self.data_format = data_format
        self.conv3d = ops.Conv3D(
            out_channel=self.out_channels // self.group, kernel_size=self.kernel_size, mode=1,
            pad_mode=self.pad_mode, pad=self.padding, stride=self.stride, dilation=self.dilation, group=1,
            data_format=data_format,
        )  # fmt: skip
        self.bias_add = ops.BiasAdd(data_format=data_format)

    def construct(self, x: Any) -> Any:
        if len(x.shape) != 5:
            raise ShapeError(f"{self.cls_name}: the input must have 5 dimensions, got shape {x.shape}")
        if self.group == 1:
            out = self.conv3d(x, self.weight)
        else:
            parts = zip(ops.Split(1, self.group)(x), ops.Split(0, self.group)(self.weight), strict=True)
            out = ops.Concat(1)(tuple(self.conv3d(part, weight) for part, weight in parts))
        return self.bias_add(out, self.bias) if self.has_bias else out


class Conv3dTranspose(_Conv):
    """Transposed 3-D convolution; weight (in_channels, out_channels // group, *kernel_size)."""

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
        output_padding: Any = 0,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        data_format: str = "NCDHW",
        dtype: DType = dtypes.float32,
    ) -> None:
        owner = type(self).__name__
        _ncdhw(data_format, owner)
        super().__init__(
            in_channels, out_channels, triple(kernel_size, "kernel_size", owner), triple(stride, "stride", owner),
            pad_mode, padding, triple(dilation, "dilation", owner), group, has_bias, weight_init, bias_init, "NCHW",
            True, dtype,
        )  # fmt: skip
        self.data_format = data_format
        beyond = (output_padding,) * 3 if isinstance(output_padding, int) else tuple(output_padding)
        if len(beyond) != 3 or any(
            not 0 <= n < max(s, d) for n, s, d in zip(beyond, self.stride[-3:], self.dilation[-3:], strict=True)
        ):
            raise SettingError(f"{owner}: output_padding must be below the stride or dilation, got {output_padding!r}")
        self.conv3d_transpose = ops.Conv3DTranspose(
            in_channel=self.in_channels, out_channel=self.out_channels, kernel_size=self.kernel_size, mode=1,
            pad_mode=self.pad_mode, pad=self.padding, stride=self.stride, dilation=self.dilation, group=self.group,
            output_padding=output_padding, data_format=data_format,
        )  # fmt: skip
        self.bias_add = ops.BiasAdd(data_format=data_format)

    def construct(self, x: Any) -> Any:
        if len(x.shape) != 5:
            raise ShapeError(f"{self.cls_name}: the input must have 5 dimensions, got shape {x.shape}")
        out = self.conv3d_transpose(x, self.weight)
        return self.bias_add(out, self.bias) if self.has_bias else out


class Conv1dTranspose(_Conv):
    """Transposed 1-D convolution over (N, C, L); weight (in_channels, out_channels // group, 1, kernel_size)."""

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
        for name, value in (("kernel_size", kernel_size), ("stride", stride), ("dilation", dilation)):
            checks.positive_int(value, name, owner)
        super().__init__(
            in_channels, out_channels, (1, kernel_size), (1, stride), pad_mode, (0, 0, padding, padding),
            (1, dilation), group, has_bias, weight_init, bias_init, "NCHW", True, dtype,
        )  # fmt: skip
        self.conv2d_transpose = ops.Conv2DBackpropInput(
            out_channel=self.in_channels, kernel_size=self.kernel_size, mode=1, pad_mode=self.pad_mode,
            pad=self.padding, stride=self.stride, dilation=self.dilation, group=self.group,
        )  # fmt: skip
        self.bias_add = ops.BiasAdd()
        self.expand_dims = ops.ExpandDims()
        self.squeeze = ops.Squeeze(2)

    def construct(self, x: Any) -> Any:
        if len(x.shape) != 3:
            raise ShapeError(f"{self.cls_name}: the input must have 3 dimensions, got shape {x.shape}")
        x = self.expand_dims(x, 2)
        n, _, h, w = x.shape
        k, s, d = self.kernel_size[1], self.stride[1], self.dilation[1]
        side = w * s if self.pad_mode == "same" else (w - 1) * s + d * (k - 1) + 1 - 2 * self.padding[2]
        if self.pad_mode == "valid":
            side = w * s + max(d * (k - 1) + 1 - s, 0)
        out = self.conv2d_transpose(x, self.weight, (n, self.out_channels, h, side))
        out = self.bias_add(out, self.bias) if self.has_bias else out
        return self.squeeze(out)


class BatchNorm3d(Cell):
    """Batch normalisation over (N, C, D, H, W), by a ``BatchNorm2d`` over (N, C, D * H, W)."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        dtype: DType = dtypes.float32,
    ) -> None:
        super().__init__()
        self.reshape = ops.Reshape()
        self.bn2d = BatchNorm2d(
            num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init, moving_var_init,
            use_batch_statistics, "NCHW", dtype,
        )  # fmt: skip

    def construct(self, x: Any) -> Any:
        shape = x.shape
        if len(shape) != 5:
            raise ShapeError(f"{self.cls_name}: the input must have 5 dimensions, got shape {shape}")
        flat = self.reshape(x, (shape[0], shape[1], shape[2] * shape[3], shape[4]))
        return self.reshape(self.bn2d(flat), shape)


class MaxPool3d(Cell):
    """Largest value of each window of (N, C, D, H, W)."""

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = triple(kernel_size, "kernel_size", self.cls_name)
        self.stride = triple(stride, "stride", self.cls_name)
        self.pad_mode = pad_mode.upper()
        self.return_indices = checks.boolean(return_indices, "return_indices", self.cls_name)
        if self.pad_mode != "PAD" and (return_indices or dilation != 1 or ceil_mode or padding):
            raise SettingError(f"{self.cls_name}: padding, dilation, return_indices and ceil_mode need pad_mode 'pad'")
        pads = (padding,) * 3 if isinstance(padding, int) else tuple(padding)
        if return_indices or dilation != 1:
            self.max_pool: Any = ops.MaxPool3DWithArgmax(
                self.kernel_size, self.stride, pads, triple(dilation, "dilation", self.cls_name), ceil_mode
            )
            return
        mode = "CALCULATED" if self.pad_mode == "PAD" else pad_mode
        self.max_pool = ops.MaxPool3D(
            self.kernel_size, self.stride, mode, pads if self.pad_mode == "PAD" else 0, ceil_mode or None
        )

    def construct(self, x: Any) -> Any:
        return _batched(self._pooled, x, 5)

    def _pooled(self, x: Any) -> Any:
        out = self.max_pool(x)
        if not isinstance(out, tuple):
            return out
        return (out[0], ops.cast(out[1], dtypes.int64)) if self.return_indices else out[0]


class AvgPool3d(Cell):
    """Mean of each window of (N, C, D, H, W) or (C, D, H, W)."""

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.pad_mode = checks.among(str(pad_mode).lower(), ("valid", "same", "pad"), "pad_mode", self.cls_name)
        pads = (padding,) * 3 if isinstance(padding, int) else tuple(padding)
        if self.pad_mode != "pad" and any(pads):
            raise SettingError(f"{self.cls_name}: padding must be 0 unless pad_mode is 'pad', got {padding!r}")
        if divisor_override is not None:
            checks.positive_int(divisor_override, "divisor_override", self.cls_name)
        self.avg_pool = ops.AvgPool3D(
            kernel_size=triple(kernel_size, "kernel_size", self.cls_name),
            strides=triple(stride, "stride", self.cls_name), pad_mode=self.pad_mode,
            pad=tuple(n for n in pads for _ in (0, 1)), ceil_mode=ceil_mode, count_include_pad=count_include_pad,
            divisor_override=divisor_override or 0,
        )  # fmt: skip

    def construct(self, x: Any) -> Any:
        return _batched(self.avg_pool, x, 5)


class AdaptiveAvgPool3d(Cell):
    """Means of as many windows as ``output_size`` says; None keeps an axis."""

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def construct(self, input: Any) -> Any:
        return adaptive_avg_pool3d(input, self.output_size)


class AdaptiveMaxPool3d(Cell):
    """The largest of as many windows as ``output_size`` says; None keeps an axis. With ``return_indices`` also their
    places."""

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = checks.boolean(return_indices, "return_indices", self.cls_name)

    def construct(self, input: Any) -> Any:
        return adaptive_max_pool3d(input, self.output_size, self.return_indices)


class MaxUnpool3d(Cell):
    """Zeros but for values at the places where a pooling of volumes found them."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding

    def construct(self, x: Any, indices: Any, output_size: Any = None) -> Any:
        return ops.max_unpool3d(x, indices, self.kernel_size, self.stride, self.padding, output_size)
