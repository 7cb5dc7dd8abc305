"""Fan in, fan out and gain, which decide the spread of initial weights."""

from __future__ import annotations

import math
from typing import Any

from harness.errors import SettingError

Shape = tuple[int, ...]


def fans(shape: Shape) -> tuple[int, int]:
    """Inputs and outputs of one unit of a weight of shape (out, in, *window); ``SettingError`` below 2 dimensions."""
    if len(shape) < 2:
        raise SettingError(f"fan in and fan out need a shape of at least 2 dimensions, got {shape}")
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def fan_of(shape: Shape, mode: str) -> int:
    """Inputs (``fan_in``) or outputs (``fan_out``) of one unit."""
    modes = {"fan_in": 0, "fan_out": 1}
    if mode.lower() not in modes:
        raise SettingError(f"mode must be fan_in or fan_out, got {mode!r}")
    return fans(shape)[modes[mode.lower()]]


_LINEAR = {"linear", "sigmoid", "conv1d", "conv2d", "conv3d"} | {f"conv_transpose{n}d" for n in (1, 2, 3)}


def gain(nonlinearity: str, slope: Any) -> float:
    """Recommended gain of an activation; ``slope`` is LeakyReLU's."""
    if nonlinearity in _LINEAR:
        return 1.0
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity != "leaky_relu":
        raise SettingError(f"nonlinearity must be one of {sorted(_LINEAR | {'tanh', 'relu', 'leaky_relu'})}, "
                           f"got {nonlinearity!r}")  # fmt: skip
    if slope is None:
        slope = 0.01
    if isinstance(slope, bool) or not isinstance(slope, (int, float)):
        raise SettingError(f"negative_slope must be a number, got {slope!r}")
    return math.sqrt(2.0 / (1 + slope**2))
