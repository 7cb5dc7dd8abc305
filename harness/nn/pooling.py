"""Pooling layers."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError, ShapeError, UnsupportedError
from harness.nn import checks
from harness.nn.cell import Cell
from harness.nn.convolution import require_nchw
from harness.nn.namespace import ops
from harness.tensor import Tensor

__all__ = ["AvgPool1d", "AvgPool2d", "MaxPool1d", "MaxPool2d"]


class _Pool(Cell):
    """Checks what all pooling layers take."""

    def __init__(self, kernel_size: Any, stride: Any, pad_mode: str, data_format: str = "NCHW") -> None:
        super().__init__()
        mode = pad_mode.upper() if isinstance(pad_mode, str) else pad_mode
        self.pad_mode = checks.among(mode, ("VALID", "SAME", "PAD"), "pad_mode", self.cls_name)
        self.format = require_nchw(data_format, self.cls_name)
        self.kernel_size = self._window(kernel_size, "kernel_size")
        self.stride = self._window(stride, "stride")

    def _window(self, value: Any, name: str) -> Any:
        if isinstance(value, tuple):
            if not 1 <= len(value) <= 2:
                raise SettingError(f"{self.cls_name}: {name} must be an int or a tuple of two, got {value!r}")
            for amount in value:
                checks.positive_int(amount, name, self.cls_name)
            return value[0] if len(value) == 1 else value
        return checks.positive_int(value, name, self.cls_name)

    def _plain_only(self, **settings: tuple[Any, Any]) -> None:
        """Refuses pad mode PAD and settings (given, default) that need it: MindSpore runs a 3-D operator for them."""
        if self.pad_mode == "PAD":
            raise UnsupportedError(
                f"{self.cls_name}: pad_mode 'pad' is not supported (MindSpore runs a 3-D pooling operator for it); "
                "pad the input with ops.pad"
            )
        for name, (given, default) in settings.items():
            if given != default:
                raise UnsupportedError(
                    f"{self.cls_name}: {name} must be {default!r}, got {given!r}; MindSpore takes another value with "
                    "pad_mode 'pad' or a 3-D operator, which are not supported"
                )

    def extend_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


def _batched(pool: Any, x: Tensor, rank: int) -> Any:
    """``pool(x)``; an input of one dimension less than ``rank`` is a batch of one."""
    if len(x.shape) != rank - 1:
        return pool(x)
    return ops.squeeze(pool(ops.expand_dims(x, 0)), 0)


class MaxPool2d(_Pool):
    """Largest value of each window of (N, C, H, W) or (C, H, W)."""

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, data_format)
        self._plain_only(
            padding=(padding, 0), dilation=(dilation, 1), return_indices=(return_indices, False),
            ceil_mode=(ceil_mode, False),
        )  # fmt: skip
        self.max_pool = ops.MaxPool(
            kernel_size=self.kernel_size, strides=self.stride, pad_mode=self.pad_mode, data_format=self.format
        )

    def construct(self, x: Tensor) -> Any:
        return _batched(self.max_pool, x, 4)


class AvgPool2d(_Pool):
    """Mean of each window of (N, C, H, W) or (C, H, W)."""

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, data_format)
        self._plain_only(
            padding=(padding, 0), ceil_mode=(ceil_mode, False), count_include_pad=(count_include_pad, True),
            divisor_override=(divisor_override, None),
        )  # fmt: skip
        self.avg_pool = ops.AvgPool(
            kernel_size=self.kernel_size, strides=self.stride, pad_mode=self.pad_mode, data_format=self.format
        )

    def construct(self, x: Tensor) -> Any:
        return _batched(self.avg_pool, x, 4)


class _Pool1d(_Pool):
    """A pooling layer over (N, C, L) or (C, L), done by a 2-D operator over height 1."""

    def __init__(self, kernel_size: int, stride: int, pad_mode: str) -> None:
        owner = type(self).__name__
        checks.positive_int(kernel_size, "kernel_size", owner)
        checks.positive_int(stride, "stride", owner)
        super().__init__((1, kernel_size), (1, stride), pad_mode)

    def _check_rank(self, x: Tensor) -> None:
        if len(x.shape) not in (2, 3):
            raise ShapeError(f"{self.cls_name}: the input must have 2 or 3 dimensions, got shape {x.shape}")


class MaxPool1d(_Pool1d):
    """Largest value of each window of (N, C, L) or (C, L)."""

    def __init__(
        self,
        kernel_size: int = 1,
        stride: int = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode)
        self._plain_only(
            padding=(padding, 0), dilation=(dilation, 1), return_indices=(return_indices, False),
            ceil_mode=(ceil_mode, False),
        )  # fmt: skip
        self.max_pool = ops.MaxPool(kernel_size=self.kernel_size, strides=self.stride, pad_mode=self.pad_mode)
        self.expand = ops.ExpandDims()
        self.squeeze = ops.Squeeze(2)

    def _pool(self, x: Tensor) -> Any:
        return self.squeeze(self.max_pool(self.expand(x, 2)))

    def construct(self, x: Tensor) -> Any:
        self._check_rank(x)
        return _batched(self._pool, x, 3)


class AvgPool1d(_Pool1d):
    """Mean of each window of (N, C, L) or (C, L)."""

    def __init__(
        self,
        kernel_size: int = 1,
        stride: int = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode)
        self._plain_only(
            padding=(padding, 0), ceil_mode=(ceil_mode, False), count_include_pad=(count_include_pad, True)
        )
        self.avg_pool = ops.AvgPool(kernel_size=self.kernel_size, strides=self.stride, pad_mode=self.pad_mode)
        self.reduce_mean = ops.ReduceMean(keep_dims=True)
        self.slice = ops.Slice()
        self.expand = ops.ExpandDims()
        self.squeeze = ops.Squeeze(2)

    def _pool(self, x: Tensor) -> Any:
        """One window over the whole length is a mean, as the real graphs show."""
        batch, channels, length = x.shape
        window = self.kernel_size[1]
        if length == window:
            return self.reduce_mean(x, 2)
        if length - window < self.stride[1]:
            return self.reduce_mean(self.slice(x, (0, 0, 0), (batch, channels, window)), 2)
        return self.squeeze(self.avg_pool(self.expand(x, 2)))

    def construct(self, x: Tensor) -> Any:
        self._check_rank(x)
        return _batched(self._pool, x, 3)
