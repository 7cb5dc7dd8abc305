"""Activation functions, split into operators as in MindSpore."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import DtypeError, UnsupportedError
from harness.framework.ops.expansion import scalar
from harness.framework.ops.functions.arithmetic import SUB
from harness.framework.ops.functions.inner import greater_of, tanh_of
from harness.framework.ops.functions.math import ONE, log, sigmoid
from harness.framework.tensor import Tensor, call

__all__ = [
    "celu", "elu", "fast_gelu", "gelu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu",
    "logsigmoid", "mish", "prelu", "relu", "relu6", "selu", "silu", "softplus", "softshrink", "softsign",
    "tanhshrink", "threshold",
]  # fmt: skip


def relu(input: Any, inplace: bool = False) -> Any:
    """max(input, 0)."""
    if inplace:
        raise UnsupportedError("ops.relu(inplace=True) is not supported; use the result")
    return call("ReLU", input)


def relu6(x: Any) -> Any:
    """min(max(x, 0), 6)."""
    return call("ReLU6", x)


def leaky_relu(input: Any, alpha: Any = 0.2) -> Any:
    """The larger of ``alpha * input`` and ``input`` (the smaller for ``alpha`` above 1)."""
    scaled = call("Mul", scalar(alpha, input.dtype), input)
    return call("Minimum" if alpha > 1 else "Maximum", scaled, input)


def gelu(input: Any, approximate: str = "none") -> Any:
    """x * Phi(x), with the error function, or with its tanh form (``approximate="tanh"``)."""
    if approximate not in ("none", "tanh"):
        raise ValueError(f"ops.gelu: approximate must be 'none' or 'tanh', got {approximate!r}")
    if input.dtype.kind != "f":
        raise DtypeError(f"ops.gelu takes floating tensors, got {input.dtype}")
    if approximate == "tanh":
        return call("GeLU", input)
    share = call("Erf", call("Div", input, scalar(math.sqrt(2.0), input.dtype))) + scalar(1, input.dtype)
    return call("Mul", call("Mul", input, share), scalar(0.5, input.dtype))


def fast_gelu(x: Any) -> Any:
    """x / (1 + e ** -1.702x)."""
    return call("FastGeLU", x)


def silu(input: Any) -> Any:
    """x * sigmoid(x)."""
    return call("SiLU", input)


def softplus(input: Any, beta: Any = 1, threshold: Any = 20) -> Any:
    """log(1 + e ** (beta * x)) / beta, and x itself where ``beta * x`` is above ``threshold``."""
    scaled = input if beta == 1 else input * beta
    above = greater_of(scaled, threshold)
    return call("Select", above, input, (1 / beta) * call("Softplus", scaled, **ONE))


def softsign(x: Any) -> Any:
    """x / (1 + |x|)."""
    return call("Softsign", x, **ONE)


def elu(input_x: Any, alpha: float = 1.0) -> Any:
    """x above 0, else alpha * (e ** x - 1); as in MindSpore, alpha can only be 1."""
    if alpha != 1.0:
        raise ValueError(f"ops.elu: alpha must be 1.0, got {alpha}")
    return call("Elu", input_x, float(alpha))


def hardswish(input: Any) -> Any:
    """x * min(max(x + 3, 0), 6) / 6."""
    return call("HSwish", input)


def hardsigmoid(input: Any) -> Any:
    """min(max(x + 3, 0), 6) / 6."""
    return call("HSigmoid", input)


def hardtanh(input: Any, min_val: Any = -1.0, max_val: Any = 1.0) -> Any:
    """Clipped to [min_val, max_val]."""
    return call("Minimum", call("Maximum", input, min_val), max_val).astype(input.dtype)


def logsigmoid(x: Any) -> Any:
    """log(sigmoid(x))."""
    return log(sigmoid(x))


def selu(input_x: Any) -> Any:
    """Scaled so that activations normalise themselves."""
    return call("SeLU", input_x, output_names=["output"], input_names=["input_x"])


def celu(x: Any, alpha: float = 1.0) -> Any:
    """x above 0, else alpha * (e ** (x / alpha) - 1)."""
    if alpha == 0:
        raise ValueError("ops.celu: alpha must not be 0")
    return call("CeLU", x, float(alpha))


def mish(x: Any) -> Any:
    """x * tanh(softplus(x))."""
    return call("Mish", x, **ONE)


def prelu(input: Any, weight: Any) -> Any:
    """x above 0, else weight * x, with one weight or one for each channel."""
    return call("PReLU", input, weight)


def tanhshrink(input: Any) -> Any:
    """x - tanh(x)."""
    if input.dtype.kind in "iu":
        input = call("Cast", input, dtypes.float32)
    return call("Sub", input, tanh_of(input), **SUB)


def threshold(input: Any, thr: Any, value: Any) -> Any:
    """x above ``thr``, else ``value``."""
    names: dict[str, Any] = {"output_names": ["y"], "input_names": ["shape", "value"]}
    shape = Tensor(np.array(input.shape, np.int64))
    above = call("Greater", input, thr)
    return call("Select", above, input, call("FillV2", shape, scalar(value, input.dtype), **names))


def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """x moved toward 0 by ``lambd``; 0 within."""
    return call("SoftShrink", input, float(lambd))


def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """x itself beyond ``lambd`` from 0; 0 within."""
    return call("HShrink", input, float(lambd))
