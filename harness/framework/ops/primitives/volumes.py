"""Primitives over (n, c, d, h, w)."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError, SettingTypeError, UnsupportedError
from harness.framework.ops.primitive import Primitive
from harness.framework.ops.volume import same_pads
from harness.framework.tensor import call

__all__ = ["Conv3D", "Conv3DTranspose", "MaxPool3D"]


def triple(owner: str, name: str, value: Any) -> tuple[int, int, int]:
    """Three ints above 0, of one or of three (or of five, whose first two are 1)."""
    sides = (value,) * 3 if isinstance(value, int) else tuple(value)
    sides = sides[2:] if len(sides) == 5 else sides
    if len(sides) != 3 or any(isinstance(n, bool) or not isinstance(n, int) for n in sides):
        raise SettingTypeError(f"{owner}: {name} must be an int or three of them, got {value!r}")
    if min(sides) < 1:
        raise SettingError(f"{owner}: {name} must be above 0, got {value!r}")
    return sides[0], sides[1], sides[2]


def _pads(owner: str, mode: Any, pad: Any) -> tuple[int, ...]:
    if not isinstance(mode, str) or mode.lower() not in ("valid", "same", "pad", "calculated"):
        raise SettingError(f"{owner}: pad_mode must be 'valid', 'same' or 'pad', got {mode!r}")
    pads = (pad,) * 6 if isinstance(pad, int) else tuple(pad)
    pads = tuple(p for p in pads for _ in (0, 1)) if len(pads) == 3 else pads
    if len(pads) != 6 or any(isinstance(p, bool) or not isinstance(p, int) or p < 0 for p in pads):
        raise SettingError(f"{owner}: the padding must be an int or six of them, none below 0, got {pad!r}")
    if mode.lower() not in ("pad", "calculated") and any(pads):
        raise SettingError(f"{owner}: padding {pad!r} needs pad_mode 'pad', got {mode!r}")
    return pads


class Conv3D(Primitive):
    """Cross-correlation of volumes."""

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
        data_format: str = "NCDHW",
    ) -> None:
        owner = "Conv3D"
        if data_format != "NCDHW":
            raise SettingError(f"{owner}: data_format must be 'NCDHW', got {data_format!r}")
        self.kernel = triple(owner, "kernel_size", kernel_size)
        self.stride, self.dilation = triple(owner, "stride", stride), triple(owner, "dilation", dilation)
        pads = _pads(owner, pad_mode, pad)
        super().__init__(attrs={
            "kernel_size": self.kernel, "mode": mode, "out_channel": out_channel, "input_names": ["x", "w"],
            "pad": pads, "offset_x": 0, "pad_mode": pad_mode, "format": data_format, "pad_list": pads, "groups": group,
            "stride": stride, "dilations": (1, 1, *self.dilation), "strides": (1, 1, *self.stride), "group": group,
            "dilation": dilation, "output_names": ["output"],
        })  # fmt: skip

    def __call__(self, x: Any, weight: Any) -> Any:
        attrs = dict(self.attrs)
        if str(attrs["pad_mode"]).lower() == "same":
            attrs["pad_list"] = same_pads(x.shape[2:], self.kernel, self.stride, self.dilation)
        return call(self.name, x, weight, **attrs, **self.marks)


class Conv3DTranspose(Primitive):
    """The gradient of a convolution of volumes for its input, as an operator of its own."""

    def __init__(
        self,
        in_channel: int,
        out_channel: int,
        kernel_size: Any,
        mode: int = 1,
        pad_mode: str = "valid",
        pad: Any = 0,
        stride: Any = 1,
        dilation: Any = 1,
        group: int = 1,
        output_padding: Any = 0,
        data_format: str = "NCDHW",
    ) -> None:
        owner = "Conv3DTranspose"
        if group != 1:
            raise UnsupportedError(f"{owner} is supported with group 1, got {group}")
        self.kernel = triple(owner, "kernel_size", kernel_size)
        self.stride, self.dilation = triple(owner, "stride", stride), triple(owner, "dilation", dilation)
        if self.dilation[0] != 1:
            raise SettingError(f"{owner}: the depth of dilation must be 1, got {dilation!r}")
        if str(pad_mode).lower() != "pad" and output_padding not in (0, (0, 0, 0)):
            raise SettingError(f"{owner}: output_padding must be 0 unless pad_mode is 'pad', got {output_padding!r}")
        more = (output_padding,) * 3 if isinstance(output_padding, int) else tuple(output_padding)[-3:]
        self.more, self.pads = more, _pads(owner, pad_mode, pad)
        super().__init__(attrs={
            "kernel_size": self.kernel, "mode": mode, "out_channel": out_channel, "input_names": ["x", "filter"],
            "pad": pad, "pad_mode": pad_mode, "format": data_format, "pad_list": self.pads, "groups": group,
            "stride": stride, "dilations": (1, 1, *self.dilation), "strides": (1, 1, *self.stride), "group": group,
            "dilation": dilation, "output_names": ["output"], "output_padding": (0, 0, *more),
            "in_channel": in_channel,
        })  # fmt: skip

    def __call__(self, x: Any, weight: Any) -> Any:
        attrs, given = dict(self.attrs), x.shape[2:]
        if str(attrs["pad_mode"]).lower() == "same":
            size = tuple(n * s for n, s in zip(given, self.stride, strict=True))
            attrs["pad_list"] = same_pads(size, self.kernel, self.stride, self.dilation)
        else:
            axes = zip(given, self.stride, self.kernel, self.dilation, self.pads[::2], self.pads[1::2], self.more,
                       strict=True)  # fmt: skip
            size = tuple((n - 1) * s + d * (k - 1) + 1 - b - a + o for n, s, k, d, b, a, o in axes)
        last = attrs.pop("in_channel")
        attrs |= {"input_size": (x.shape[0], attrs["out_channel"], *size), "in_channel": last}
        return call(self.name, x, weight, **attrs, **self.marks)


class MaxPool3D(Primitive):
    """Largest value of each window of a volume."""

    def __init__(
        self,
        kernel_size: Any = 1,
        strides: Any = 1,
        pad_mode: str = "VALID",
        pad_list: Any = 0,
        ceil_mode: Any = None,
        data_format: str = "NCDHW",
    ) -> None:
        owner = "MaxPool3D"
        if data_format != "NCDHW":
            raise SettingError(f"{owner}: data_format must be 'NCDHW', got {data_format!r}")
        self.kernel, self.stride = triple(owner, "kernel_size", kernel_size), triple(owner, "strides", strides)
        pads = _pads(owner, pad_mode, pad_list)
        mode = 1 if ceil_mode and pad_mode.upper() in ("PAD", "CALCULATED") else 0
        super().__init__(attrs={
            "kernel_size": (1, 1, *self.kernel), "strides": (1, 1, *self.stride), "input_names": ["x"],
            "ceil_mode": mode, "pad_mode": pad_mode.upper(), "output_names": ["output"], "format": data_format,
            "pad_list": pads,
        })  # fmt: skip

    def __call__(self, x: Any) -> Any:
        attrs = dict(self.attrs)
        if attrs["pad_mode"] == "SAME":
            attrs["pad_list"] = same_pads(x.shape[2:], self.kernel, self.stride)
        return call(self.name, x, **attrs, **self.marks)
