"""Pooling layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from harness import dtypes
from harness.errors import SettingError, SettingTypeError, ShapeError
from harness.framework.nn import checks
from harness.framework.nn.cell import Cell
from harness.framework.nn.convolution import require_nchw
from harness.framework.nn.namespace import ops
from harness.framework.ops.functions.pooling import adaptive_max_pool2d
from harness.framework.tensor import Tensor

__all__ = [
    "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AvgPool1d", "AvgPool2d", "LPPool1d", "LPPool2d", "MaxPool1d",
    "MaxPool2d", "MaxUnpool1d", "MaxUnpool2d",
]  # fmt: skip


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

    def _need_pad_mode(self, **settings: tuple[Any, Any]) -> None:
        """Refuses settings (given, default) that only pad mode PAD takes."""
        for name, (given, default) in settings.items():
            if given != default:
                raise SettingError(
                    f"{self.cls_name}: {name} must be {default!r} unless pad_mode is 'pad', got {given!r}"
                )

    def _spread(self, value: Any, rank: int) -> tuple[int, ...]:
        """A window (or stride) of ``rank`` axes as three, the missing first ones 1."""
        return (1,) * (3 - rank) + (value if isinstance(value, tuple) else (value,) * rank)

    def _pads(self, padding: Any, rank: int) -> tuple[int, ...]:
        """Padding of ``rank`` axes: one int for each."""
        given = (padding,) * rank if isinstance(padding, int) else tuple(padding)
        given = given * rank if len(given) == 1 else given
        if len(given) != rank:
            raise SettingError(f"{self.cls_name}: padding must be an int or {rank} of them, got {padding!r}")
        return tuple(checks.count(amount, "padding", self.cls_name) for amount in given)

    def extend_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


def _batched(pool: Callable[[Any], Any], x: Any, rank: int) -> Any:
    """``pool(x)``; an input of one dimension less than ``rank`` is a batch of one."""
    if len(x.shape) != rank - 1:
        return pool(x)
    out = pool(x.unsqueeze(0))
    return tuple(part.squeeze(0) for part in out) if isinstance(out, tuple) else out.squeeze(0)


class _MaxPool(_Pool):
    """Largest values; with pad mode PAD by a 3-D operator that also gives their places."""

    #: axes pooled over
    _rank: ClassVar[int]

    def _build(self, plain: dict[str, Any], padding: Any, dilation: Any, return_indices: bool, ceil_mode: bool) -> None:
        self.return_indices = checks.boolean(return_indices, "return_indices", self.cls_name)
        self.use_pad = self.pad_mode == "PAD"
        if not self.use_pad:
            self._need_pad_mode(
                padding=(padding, 0), dilation=(dilation, 1), return_indices=(return_indices, False),
                ceil_mode=(ceil_mode, False),
            )  # fmt: skip
            self.max_pool = ops.MaxPool(pad_mode=self.pad_mode, **plain)
            return
        missing = 3 - self._rank
        self.max_pool = ops.MaxPool3DWithArgmax(
            ksize=self._spread(self.kernel_size, self._rank), strides=self._spread(self.stride, self._rank),
            pads=(0,) * missing + self._pads(padding, self._rank),
            dilation=dilation if isinstance(dilation, int) else self._spread(dilation, self._rank),
            ceil_mode=ceil_mode,
        )  # fmt: skip

    def _padded(self, x: Any) -> Any:
        axes = range(2, 5 - self._rank)
        for axis in axes:
            x = x.unsqueeze(axis)
        found = []
        largest, places = self.max_pool(x)
        for part in (largest, ops.cast(places, dtypes.int64)) if self.return_indices else (largest,):
            for axis in reversed(axes):
                part = part.squeeze(axis)
            found.append(part)
        return tuple(found) if self.return_indices else found[0]


class MaxPool2d(_MaxPool):
    """Largest value of each window of (N, C, H, W) or (C, H, W); with ``return_indices`` also their places."""

    _rank = 2

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
        plain = {"kernel_size": self.kernel_size, "strides": self.stride, "data_format": self.format}
        self._build(plain, padding, dilation, return_indices, ceil_mode)

    def construct(self, x: Tensor) -> Any:
        return _batched(self._padded if self.use_pad else self.max_pool, x, 4)


class _AvgPool(_Pool):
    """Means; with padding, ceil mode or a divisor of its own by a 3-D operator."""

    _rank: ClassVar[int]

    def _build(
        self, plain: dict[str, Any], padding: Any, ceil_mode: bool, count_include_pad: bool, divisor: int | None
    ) -> None:
        self.is_expand = (
            self.pad_mode == "PAD" or padding != 0 or ceil_mode or not count_include_pad or divisor is not None
        )
        if self.pad_mode != "PAD" and padding not in (0, (0,) * self._rank):
            raise SettingError(f"{self.cls_name}: padding must be 0 unless pad_mode is 'pad', got {padding!r}")
        if not self.is_expand:
            self.avg_pool = ops.AvgPool(pad_mode=self.pad_mode, **plain)
            return
        if divisor is not None:
            checks.positive_int(divisor, "divisor_override", self.cls_name)
        pads = tuple(amount for amount in self._pads(padding, self._rank) for _ in range(2))
        self.avg_pool = ops.AvgPool3D(
            kernel_size=self._spread(self.kernel_size, self._rank), strides=self._spread(self.stride, self._rank),
            pad_mode=self.pad_mode.lower(), pad=(0, 0) * (3 - self._rank) + pads, ceil_mode=ceil_mode,
            count_include_pad=count_include_pad, divisor_override=divisor or 0,
        )  # fmt: skip

    def _expanded(self, x: Any) -> Any:
        axes = range(2, 5 - self._rank)
        for axis in axes:
            x = x.unsqueeze(axis)
        out = self.avg_pool(x)
        for axis in reversed(axes):
            out = out.squeeze(axis)
        return out


class AvgPool2d(_AvgPool):
    """Mean of each window of (N, C, H, W) or (C, H, W)."""

    _rank = 2

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
        plain = {"kernel_size": self.kernel_size, "strides": self.stride, "data_format": self.format}
        self._build(plain, padding, ceil_mode, count_include_pad, divisor_override)

    def construct(self, x: Tensor) -> Any:
        return _batched(self._expanded if self.is_expand else self.avg_pool, x, 4)


def _check_line(layer: _Pool, x: Tensor) -> None:
    if len(x.shape) not in (2, 3):
        raise ShapeError(f"{layer.cls_name}: the input must have 2 or 3 dimensions, got shape {x.shape}")


class MaxPool1d(_MaxPool):
    """Largest value of each window of (N, C, L) or (C, L); with ``return_indices`` also their places."""

    _rank = 1

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
        if isinstance(kernel_size, tuple):  # AvgPool1d takes a tuple of one (measured)
            raise SettingTypeError(f"MaxPool1d: kernel_size must be an int, got {kernel_size!r}")
        super().__init__(kernel_size, stride, pad_mode)
        plain = {"kernel_size": (1, self.kernel_size), "strides": (1, self.stride)}
        self._build(plain, padding, dilation, return_indices, ceil_mode)
        self.expand = ops.ExpandDims()
        self.squeeze = ops.Squeeze(2)

    def _plain(self, x: Any) -> Any:
        return self.squeeze(self.max_pool(self.expand(x, 2)))

    def construct(self, x: Tensor) -> Any:
        _check_line(self, x)
        return _batched(self._padded if self.use_pad else self._plain, x, 3)


class AvgPool1d(_AvgPool):
    """Mean of each window of (N, C, L) or (C, L)."""

    _rank = 1

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
        plain = {"kernel_size": (1, self.kernel_size), "strides": (1, self.stride)}
        self._build(plain, padding, ceil_mode, count_include_pad, None)
        self.reduce_mean = ops.ReduceMean(keep_dims=True)
        self.slice = ops.Slice()
        self.expand = ops.ExpandDims()
        self.squeeze = ops.Squeeze(2)

    def _plain(self, x: Any) -> Any:
        """One window over the whole length is a mean, as the real graphs show."""
        batch, channels, length = x.shape
        if length == self.kernel_size:
            return self.reduce_mean(x, 2)
        if length - self.kernel_size < self.stride:
            return self.reduce_mean(self.slice(x, (0, 0, 0), (batch, channels, self.kernel_size)), 2)
        return self.squeeze(self.avg_pool(self.expand(x, 2)))

    def construct(self, x: Tensor) -> Any:
        _check_line(self, x)
        return _batched(self._expanded if self.is_expand else self._plain, x, 3)


class AdaptiveMaxPool1d(Cell):
    """The largest of ``output_size`` windows of one length along the last axis of (N, C, L)."""

    def __init__(self, output_size: int) -> None:
        super().__init__()
        self.output_size = checks.positive_int(output_size, "output_size", self.cls_name)
        self.expand_dims = ops.ExpandDims()
        self.squeeze = ops.Squeeze(2)

    def construct(self, x: Tensor) -> Any:
        length = x.shape[-1]
        if len(x.shape) != 3 or length % self.output_size:
            raise ShapeError(f"{self.cls_name}: (N, C, L) with a length that {self.output_size} divides is needed, "
                             f"got {x.shape}")  # fmt: skip
        window = (1, length // self.output_size)
        return self.squeeze(ops.MaxPool(kernel_size=window, strides=window)(self.expand_dims(x, 2)))


class AdaptiveMaxPool2d(Cell):
    """The largest of as many windows as ``output_size`` says; None keeps an axis. With ``return_indices`` also their
    places."""

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = checks.boolean(return_indices, "return_indices", self.cls_name)

    def construct(self, input: Tensor) -> Any:
        return adaptive_max_pool2d(input, self.output_size, self.return_indices)


class _LPPool(Cell):
    """Roots of sums of powers."""

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = checks.boolean(ceil_mode, "ceil_mode", self.cls_name)


class LPPool1d(_LPPool):
    """Over windows of (N, C, L) or (C, L)."""

    def construct(self, x: Tensor) -> Any:
        return ops.lp_pool1d(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(_LPPool):
    """Over windows of (N, C, H, W)."""

    def construct(self, x: Tensor) -> Any:
        return ops.lp_pool2d(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


class _MaxUnpool(Cell):
    """Zeros but for values at the places where a pooling found them."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding


class MaxUnpool1d(_MaxUnpool):
    """Over (N, C, L)."""

    def construct(self, x: Tensor, indices: Tensor, output_size: Any = None) -> Any:
        return ops.max_unpool1d(x, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(_MaxUnpool):
    """Over (N, C, H, W)."""

    def construct(self, x: Tensor, indices: Tensor, output_size: Any = None) -> Any:
        return ops.max_unpool2d(x, indices, self.kernel_size, self.stride, self.padding, output_size)
