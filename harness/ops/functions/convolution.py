"""Convolution and pooling."""

from __future__ import annotations

from typing import Any

from harness.errors import ShapeError
from harness.ops.functions.shape import expand_dims, squeeze
from harness.ops.primitives.convolution import Conv2D
from harness.tensor import Tensor, call

__all__ = ["conv1d", "conv2d"]


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


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int = 1,
    pad_mode: str = "valid",
    padding: int = 0,
    dilation: int = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of input (n, c, l) with weight (out, c / groups, k), plus a bias a channel."""
    if len(weight.shape) != 3 or len(input.shape) != 3:
        raise ShapeError(f"conv1d: input and weight must have 3 axes, got {list(input.shape)}, {list(weight.shape)}")
    flat = expand_dims(input, 2), expand_dims(weight, 2)
    pads = (0, 0, padding, padding)
    return squeeze(conv2d(*flat, bias, (1, stride), pad_mode, pads, (1, dilation), groups), 2)
