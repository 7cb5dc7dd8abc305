"""Convolution and padding."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError, SettingTypeError, ShapeError
from harness.framework.ops.expansion import scalar
from harness.framework.ops.functions.shape import expand_dims, squeeze
from harness.framework.ops.primitives.convolution import AvgPool3D, Conv2D, pair
from harness.framework.ops.primitives.models import MirrorPad
from harness.framework.ops.primitives.shape import PadV3
from harness.framework.ops.primitives.volumes import Conv3D
from harness.framework.tensor import Tensor, call

__all__ = ["adaptive_avg_pool2d", "avg_pool2d", "conv1d", "conv2d", "conv3d", "max_pool2d", "mirror_pad", "pad"]

#: MindSpore's names of the modes, as the node shows them
_PAD_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "circular"}


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of input (n, c, h, w) with weight (out, c / groups, kh, kw), plus a bias a channel."""
    if len(weight.shape) != 4:
        raise ShapeError(f"conv2d: the weight must be (out, c / groups, kh, kw), got {list(weight.shape)}")
    pads = padding if isinstance(padding, int) or len(padding) == 4 else (padding[0],) * 2 + (padding[1],) * 2
    conv = Conv2D(weight.shape[0], tuple(weight.shape[2:]), 1, pad_mode, pads, stride, dilation, groups)
    out = conv(input, weight)
    return out if bias is None else call("BiasAdd", out, bias, 0)  # type: ignore[no-any-return]


def _only(value: Any, name: str) -> Any:
    """An int, or the only one of a tuple or list."""
    if not isinstance(value, (tuple, list)):
        return value
    if len(value) != 1:
        raise SettingError(f"conv1d: {name} must be an int or a tuple of one, got {value!r}")
    return value[0]


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of input (n, c, l) with weight (out, c / groups, k), plus a bias a channel."""
    if len(weight.shape) != 3 or len(input.shape) != 3:
        raise ShapeError(f"conv1d: input and weight must have 3 axes, got {list(input.shape)}, {list(weight.shape)}")
    flat = expand_dims(input, 2), expand_dims(weight, 2)
    stride, padding, dilation = (
        _only(value, name) for value, name in ((stride, "stride"), (padding, "padding"), (dilation, "dilation"))
    )
    pads = (0, 0, padding, padding)
    out = squeeze(conv2d(*flat, None, (1, stride), pad_mode, pads, (1, dilation), groups), 2)
    return out if bias is None else call("BiasAdd", out, bias, 0)


def max_pool2d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    return_indices: bool = False,
    ceil_mode: bool = False,
) -> Any:
    """Maximum of each window of (n, c, h, w); with ``return_indices`` also where it was."""
    if len(x.shape) != 4:
        raise SettingError(f"max_pool2d: four axes are needed, got {x.shape}")
    sides = [pair("max_pool2d", "kernel_size", kernel_size)]
    sides.append(sides[0] if stride is None else pair("max_pool2d", "stride", stride))
    around = (padding, padding) if isinstance(padding, int) else tuple(padding)
    if len(around) != 2 or not all(0 <= n <= k / 2 for n, k in zip(around, sides[0], strict=True)):
        raise SettingError(f"max_pool2d: padding must be 0 to half of kernel_size {sides[0]}, got {padding!r}")
    attrs: dict[str, Any] = {
        "kernel_size": (1, 1, *sides[0]), "strides": (1, 1, *sides[1]), "input_names": ["x"], "argmax_type": 4,
        "pads": (1, 1, *around), "ceil_mode": ceil_mode, "dilation": (1, 1, *pair("max_pool2d", "dilation", dilation)),
        "output_names": ["output", "argmax"],
    }  # fmt: skip
    out, places = call("MaxPoolWithArgmaxV2", x, **attrs)
    return (out, places) if return_indices else out


def avg_pool2d(
    input_x: Tensor,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
) -> Tensor:
    """Mean of each window of (n, c, h, w)."""
    around = (padding,) * 4 if isinstance(padding, int) else tuple(padding)
    kernel = pair("avg_pool2d", "kernel_size", kernel_size)
    if len(around) != 4 or any(sum(around[2 * n : 2 * n + 2]) > kernel[n] for n in (0, 1)):
        raise SettingError(
            f"avg_pool2d: padding must be an int or 4 of them, within kernel_size {kernel}, got {padding!r}"
        )
    pool = AvgPool3D(
        (1, *pair("avg_pool2d", "kernel_size", kernel_size)), (1, *pair("avg_pool2d", "stride", stride)), "pad",
        (0, 0, *around), ceil_mode, count_include_pad, divisor_override,
    )  # fmt: skip
    return squeeze(pool(expand_dims(input_x, 2)), 2)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Means over as many windows as ``output_size`` says; None keeps an axis's length."""
    both = (output_size, output_size) if isinstance(output_size, int) else tuple(output_size)
    size = tuple(n if wanted is None else int(wanted) for n, wanted in zip(input.shape[-2:], both, strict=True))
    attrs: dict[str, Any] = {"output_names": ["y"], "output_size": size, "input_names": ["x"]}
    return call("AdaptiveAvgPool2D", input, **attrs)  # type: ignore[no-any-return]


def _padded_ranks(mode: str, axes: int) -> tuple[int, ...]:
    """Ranks whose last ``axes`` axes can be padded with what the tensor holds (measured)."""
    return (axes + 1,) if mode == "reflect" and axes == 3 else (axes + 1, axes + 2)


def pad(input_x: Tensor, padding: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """Elements around ``input_x``, pairs of numbers from its last axis on; negative ones cut."""
    if mode not in _PAD_MODES:
        raise ValueError(f"pad: mode must be one of {', '.join(_PAD_MODES)}, got {mode!r}")
    if mode != "constant" and value is not None:
        raise ValueError(f"pad: a value goes with mode 'constant' only, got {value!r} with {mode!r}")
    if mode != "constant" and len(input_x.shape) not in _padded_ranks(mode, len(padding) // 2):
        ranks = " or ".join(map(str, _padded_ranks(mode, len(padding) // 2)))
        raise ShapeError(f"pad: with mode {mode!r} {len(padding)} numbers of padding go with {ranks} dimensions, "
                         f"got shape {list(input_x.shape)}")  # fmt: skip
    fill = None if mode != "constant" else value if isinstance(value, Tensor) else scalar(value or 0, input_x.dtype)
    return PadV3(_PAD_MODES[mode])(input_x, padding, fill)  # type: ignore[no-any-return]


def conv3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The cross-correlation of volumes (n, c, d, h, w) with ``weight`` (k, c / groups, d, h, w), and ``bias`` (k,)."""
    pads = tuple(n for n in padding for _ in (0, 1)) if isinstance(padding, (tuple, list)) else padding
    found = Conv3D(weight.shape[0], tuple(weight.shape[2:5]), 1, pad_mode, pads, stride, dilation, groups)(
        input, weight
    )
    if bias is None:
        return found
    if not isinstance(bias, Tensor):
        raise SettingTypeError(f"conv3d: bias must be a tensor, got {type(bias).__name__}")
    return call("BiasAdd", found, bias, 0)


def mirror_pad(input_x: Any, paddings: Any, mode: str) -> Any:
    """``input_x`` with its elements mirrored at its edges; ``paddings``: a pair for each axis (a tensor)."""
    return MirrorPad(mode)(input_x, paddings)
