"""Patches of pictures (``unfold``, ``fold``), and blocks of pixels."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError, SettingTypeError
from harness.framework.ops.functions.shape import transpose
from harness.framework.tensor import Tensor, call, tensor_method

__all__ = ["fold", "pixel_unshuffle", "unfold"]


def _two(value: Any, name: str, owner: str, least: int) -> tuple[int, int]:
    pair = (value, value) if isinstance(value, int) else value
    if not isinstance(pair, (tuple, list)) or not all(isinstance(v, int) for v in pair):
        raise SettingTypeError(f"{owner}: {name} must be an int or a tuple of ints, got {value!r}")
    pair = tuple(pair) * 2 if len(pair) == 1 else tuple(pair)
    if len(pair) != 2 or min(pair) < least:
        raise SettingError(f"{owner}: {name} must be one or two numbers of at least {least}, got {value!r}")
    return pair


def columns(kernel_size: Any, dilation: Any, padding: Any, stride: Any, owner: str) -> dict[str, Any]:
    """The attributes of ``Im2Col``."""
    return {
        "dilations": _two(dilation, "dilation", owner, 1), "strides": _two(stride, "stride", owner, 1),
        "input_names": ["x"], "pads": _two(padding, "padding", owner, 0), "padding_mode": "CALCULATED",
        "output_names": ["y"], "ksizes": _two(kernel_size, "kernel_size", owner, 1),
    }  # fmt: skip


def pictures(kernel_size: Any, dilation: Any, padding: Any, stride: Any, owner: str) -> dict[str, Any]:
    """The attributes of ``Col2Im``."""
    return {
        "kernel_size": _two(kernel_size, "kernel_size", owner, 1), "stride": _two(stride, "stride", owner, 1),
        "input_names": ["x", "output_size"], "padding": _two(padding, "padding", owner, 0),
        "dilation": _two(dilation, "dilation", owner, 1), "output_names": ["y"],
    }  # fmt: skip


@tensor_method("unfold")
def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """The patches of pictures (n, c, h, w): (n, c * elements of a patch, number of patches)."""
    patches = call("Im2Col", input, **columns(kernel_size, dilation, padding, stride, "unfold"))
    return call("Reshape", patches, (input.shape[0], -1, patches.shape[-1]))


@tensor_method("fold")
def fold(input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Patches (n, c * elements of a patch, number) added up to pictures (n, c, h, w); ``output_size``: a tensor."""
    if not isinstance(output_size, Tensor):
        raise SettingTypeError(f"fold: output_size must be a Tensor, got {type(output_size).__name__}")
    attrs = pictures(kernel_size, dilation, padding, stride, "fold")
    kernel = attrs["kernel_size"]
    patches = call("Reshape", input, (input.shape[0], -1, kernel[0] * kernel[1], input.shape[-1]))
    return call("Col2Im", patches, output_size, **attrs)


def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """(..., C, H * r, W * r) to (..., C * r * r, H, W)."""
    *lead, c, h, w = input.shape
    r = downscale_factor
    if isinstance(r, bool) or not isinstance(r, int):
        raise SettingTypeError(f"pixel_unshuffle: downscale_factor must be an int, got {r!r}")
    if r < 1 or h % r or w % r:
        raise SettingError(f"pixel_unshuffle: {h} x {w} must be divisible by {r}")
    at = len(lead)
    parts = input.reshape((*lead, c, h // r, r, w // r, r))
    parts = transpose(parts, (*range(at), at, at + 2, at + 4, at + 1, at + 3))
    return parts.reshape((*lead, c * r * r, h // r, w // r))
