"""Primitives of convolution and pooling."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework.ops import window
from harness.framework.ops.constants import int_tensor
from harness.framework.ops.primitive import Primitive
from harness.framework.ops.volume import same_pads
from harness.framework.tensor import call

__all__ = [
    "AvgPool", "AvgPool3D", "Conv2D", "Conv2DBackpropInput", "Conv2DTranspose", "MaxPool", "MaxPool3DWithArgmax",
    "MaxPoolWithArgmax",
]  # fmt: skip

#: pad modes as AvgPool's node shows them
_AVG_PAD_MODES = {"SAME": 1, "VALID": 2}


def pair(owner: str, name: str, value: Any) -> window.Pair:
    """A setting for both spatial axes: a positive int, or a tuple of two (of four: the last two).

    Raises ``ValueError`` or ``TypeError`` naming owner and setting.
    """
    if isinstance(value, bool) or not isinstance(value, (int, tuple, list)):
        raise TypeError(f"{owner}: {name} must be an int or a tuple of two, got {value!r}")
    both = (value, value) if isinstance(value, int) else tuple(value)[-2:] if len(value) in (2, 4) else ()
    if len(both) != 2 or any(isinstance(v, bool) or not isinstance(v, int) or v < 1 for v in both):
        raise ValueError(f"{owner}: {name} must be an int or a tuple of two, all above 0, got {value!r}")
    return int(both[0]), int(both[1])


def check_format(owner: str, data_format: str) -> str:
    """``NCHW``; ``ValueError`` for what the CPU kernels do not take."""
    if data_format != "NCHW":
        raise ValueError(f"{owner}: data_format must be 'NCHW', got {data_format!r}")
    return data_format


class Conv2D(Primitive):
    """Two-dimensional cross-correlation.

    Args:
        out_channel: number of output channels.
        kernel_size: height and width of the kernel.
        mode: 1.
        pad_mode: ``valid``, ``same`` or ``pad``.
        pad: zeros around the input under ``pad`` (one number, or top, bottom, left, right).
        stride, dilation: for both axes or each.
        group: groups the channels are split into.
        data_format: ``NCHW``.
    """

    input_names: tuple[str, ...] = ("x", "w")

    def __init__(
        self,
        out_channel: int,
        kernel_size: Any,
        mode: int = 1,
        pad_mode: str = "valid",
        pad: Any = 0,
        stride: Any = 1,
        dilation: Any = 1,
        group: int = 1,
        data_format: str = "NCHW",
    ) -> None:
        name = type(self).__name__
        if mode != 1:
            raise ValueError(f"{name}: mode must be 1, got {mode!r}")
        self.kernel = pair(name, "kernel_size", kernel_size)
        self.stride, self.dilation = pair(name, "stride", stride), pair(name, "dilation", dilation)
        super().__init__(
            attrs={
                "kernel_size": kernel_size if isinstance(kernel_size, int) else self.kernel,
                "mode": mode,
                "out_channel": _positive(name, "out_channel", out_channel),
                "input_names": list(self.input_names),
                "pad": _pads(name, pad_mode, pad),
                "pad_mode": pad_mode.lower(),
                "format": check_format(name, data_format),
                "pad_list": None,
                "groups": _positive(name, "group", group),
                "stride": (1, 1, *self.stride),
                "group": group,
                "dilation": (1, 1, *self.dilation),
                "output_names": ["output"],
            }
        )

    def settled(self, size: tuple[int, ...]) -> dict[str, Any]:
        """The attributes, with the padding an input of spatial ``size`` gets."""
        return {**self.attrs, "pad_list": self._pad_list(size)} | self.marks

    def __call__(self, x: Any, weight: Any) -> Any:
        return call(self.name, x, weight, **self.settled(tuple(x.shape)[-2:]))

    def _pad_list(self, size: tuple[int, ...]) -> window.Pads:
        if self.attrs["pad_mode"] == "same" and len(size) == 2 and -1 not in size:
            return window.same_pads((size[0], size[1]), self.kernel, self.stride, self.dilation)
        pads: window.Pads = self.attrs["pad"]
        return pads


class Conv2DTranspose(Conv2D):
    """Gradient of a convolution for its input, as an operator of its own: ``(dout, weight, input_size)``.

    The CPU backend runs it as ``Conv2DBackpropInput``.
    """

    input_names = ("out_backprop", "filter", "input_sizes")

    def __init__(
        self,
        out_channel: int,
        kernel_size: Any,
        pad_mode: str = "valid",
        pad: Any = 0,
        pad_list: Any = None,
        mode: int = 1,
        stride: Any = 1,
        dilation: Any = 1,
        group: int = 1,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(out_channel, kernel_size, mode, pad_mode, pad, stride, dilation, group, data_format)
        self.attrs["pad_mode"] = self.attrs["pad_mode"].upper()

    def __call__(self, dout: Any, weight: Any, input_size: Any = None) -> Any:
        if input_size is None:
            raise TypeError(f"{type(self).__name__} needs the size of the convolution's input")
        size = tuple(int(d) for d in input_size)
        return call(self.name, dout, weight, int_tensor(size), **self.settled(size[-2:]))

    def _pad_list(self, size: tuple[int, ...]) -> window.Pads:
        if self.attrs["pad_mode"] == "SAME":
            return window.same_pads((size[0], size[1]), self.kernel, self.stride, self.dilation)
        pads: window.Pads = self.attrs["pad"]
        return pads


class Conv2DBackpropInput(Conv2DTranspose):
    """The same under its older name."""


class AvgPool3D(Primitive):
    """Mean of each window of (n, c, d, h, w); under pad mode ``pad`` ``count_include_pad`` says what padding counts."""

    def __init__(
        self,
        kernel_size: Any = 1,
        strides: Any = 1,
        pad_mode: str = "valid",
        pad: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int = 0,
        data_format: str = "NCDHW",
    ) -> None:
        if pad_mode.lower() not in ("valid", "same", "pad") or data_format != "NCDHW":
            raise ValueError(f"AvgPool3D: pad_mode must be 'valid', 'same' or 'pad', got {pad_mode!r}")
        around = (pad,) * 6 if isinstance(pad, int) else tuple(pad)
        if isinstance(divisor_override, bool) or not isinstance(divisor_override, int):
            raise TypeError(f"AvgPool3D: divisor_override must be an int, got {divisor_override!r}")
        if divisor_override < 0 or any(isinstance(n, int) and n < 0 for n in around):
            raise ValueError(f"AvgPool3D: divisor_override and pad must be at least 0, got {divisor_override}, {pad}")
        super().__init__(
            attrs={
                "kernel_size": (1, 1, *_triple("AvgPool3D", kernel_size)), "input_names": ["input"], "pad": pad,
                "divisor_override": divisor_override, "pad_mode": pad_mode.upper(), "format": data_format,
                "pad_list": around, "strides": (1, 1, *_triple("AvgPool3D", strides)), "ceil_mode": ceil_mode,
                "output_names": ["output"], "count_include_pad": count_include_pad,
            }
        )  # fmt: skip

    def __call__(self, x: Any) -> Any:
        attrs = dict(self.attrs)
        if attrs["pad_mode"] == "SAME":
            attrs["pad_list"] = same_pads(x.shape[2:], attrs["kernel_size"][2:], attrs["strides"][2:])
        return call(self.name, x, **attrs, **self.marks)


class MaxPool3DWithArgmax(Primitive):
    """Maximum of each window of (n, c, 1, h, w), and where it was."""

    def __init__(
        self,
        ksize: Any,
        strides: Any,
        pads: Any,
        dilation: Any = (1, 1, 1),
        ceil_mode: bool = False,
        data_format: str = "NCDHW",
        argmax_type: Any = dtypes.int64,
    ) -> None:
        name = "MaxPool3DWithArgmax"
        around = (pads,) * 3 if isinstance(pads, int) else tuple(pads)
        super().__init__(
            attrs={
                "strides": _triple(name, strides), "input_names": ["x"], "argmax_type": argmax_type.lower,
                "pads": around, "ceil_mode": ceil_mode, "dilation": _triple(name, dilation),
                "ksize": _triple(name, ksize), "output_names": ["y", "argmax"], "format": data_format,
            }
        )  # fmt: skip


class MaxPool(Primitive):
    """Maximum of each window of (n, c, h, w); ``pad_mode`` ``valid`` or ``same``."""

    def __init__(
        self, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid", data_format: str = "NCHW"
    ) -> None:
        super().__init__(
            attrs={
                "kernel_size": (1, 1, *pair("MaxPool", "kernel_size", kernel_size)),
                "strides": (1, 1, *pair("MaxPool", "strides", strides)),
                "input_names": ["x"],
                "pad_mode": _pool_mode("MaxPool", pad_mode),
                "output_names": ["output"],
                "format": check_format("MaxPool", data_format),
            }
        )


class MaxPoolWithArgmax(Primitive):
    """Maximum of each window of (n, c, h, w), and its Int32 place; ``pad_mode`` ``valid`` or ``same``."""

    def __init__(
        self, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid", data_format: str = "NCHW"
    ) -> None:
        super().__init__(
            attrs={
                "kernel_size": (1, 1, *pair("MaxPoolWithArgmax", "kernel_size", kernel_size)),
                "strides": (1, 1, *pair("MaxPoolWithArgmax", "strides", strides)),
                "input_names": ["x"],
                "pad_mode": _pool_mode("MaxPoolWithArgmax", pad_mode),
                "output_names": ["output", "mask"],
                "format": check_format("MaxPoolWithArgmax", data_format),
            }
        )


class AvgPool(Primitive):
    """Mean of each window of (n, c, h, w); ``pad_mode`` ``valid`` or ``same`` (padding does not count)."""

    def __init__(
        self, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "VALID", data_format: str = "NCHW"
    ) -> None:
        check_format("AvgPool", data_format)
        mode = _AVG_PAD_MODES[_pool_mode("AvgPool", pad_mode)]
        kernel, stride = pair("AvgPool", "kernel_size", kernel_size), pair("AvgPool", "strides", strides)
        super().__init__(trailing=(kernel, stride, mode, 0))

    def __call__(self, input: Any) -> Any:
        return super().__call__(input)


def _triple(owner: str, value: Any) -> tuple[int, int, int]:
    if not isinstance(value, (int, tuple, list)):
        raise SettingTypeError(f"{owner}: an int or a tuple of three is needed, got {value!r}")
    sides = (value,) * 3 if isinstance(value, int) else tuple(value)
    if len(sides) != 3 or any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in sides):
        raise SettingError(f"{owner}: an int or a tuple of three above 0 is needed, got {value!r}")
    return sides[0], sides[1], sides[2]


def _positive(owner: str, name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{owner}: {name} must be an int above 0, got {value!r}")
    return value


def _pads(owner: str, mode: Any, pad: Any) -> window.Pads:
    if not isinstance(mode, str) or mode.lower() not in ("valid", "same", "pad"):
        raise ValueError(f"{owner}: pad_mode must be 'valid', 'same' or 'pad', got {mode!r}")
    pads = (pad,) * 4 if isinstance(pad, int) else tuple(pad) if isinstance(pad, (tuple, list)) else ()
    if len(pads) != 4 or any(isinstance(p, bool) or not isinstance(p, int) or p < 0 for p in pads):
        raise ValueError(f"{owner}: pad must be an int or a tuple of four, none below 0, got {pad!r}")
    if mode.lower() != "pad" and any(pads):
        raise ValueError(f"{owner}: pad {pad!r} needs pad_mode 'pad', got {mode!r}")
    return pads[0], pads[1], pads[2], pads[3]


def _pool_mode(owner: str, mode: Any) -> str:
    if not isinstance(mode, str) or mode.upper() not in _AVG_PAD_MODES:
        raise ValueError(f"{owner}: pad_mode must be 'valid' or 'same', got {mode!r}")
    return mode.upper()
