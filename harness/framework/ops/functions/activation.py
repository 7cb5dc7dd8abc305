"""Activation functions, split into operators as in MindSpore."""

from __future__ import annotations

import math
from typing import Any

from harness import dtypes
from harness.errors import DtypeError, KernelError, SettingError, UnsupportedError
from harness.framework.ops.constants import int_tensor
from harness.framework.ops.expansion import scalar
from harness.framework.ops.functions.arithmetic import SUB
from harness.framework.ops.functions.inner import greater_of, tanh_of
from harness.framework.ops.functions.math import ONE, log, sigmoid
from harness.framework.ops.functions.random import uniform
from harness.framework.ops.functions.shape import axis_of
from harness.framework.tensor import Tensor, call, is_eager, tensor_method

__all__ = [
    "celu", "elu", "fast_gelu", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu",
    "logsigmoid", "mish", "prelu", "relu", "relu6", "rrelu", "selu", "silu", "soft_shrink", "softplus", "softshrink",
    "softsign", "tanhshrink", "threshold",
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


def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """x moved toward 0 by ``lambd``; 0 within."""
    return call("SoftShrink", input, float(lambd))


def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """x itself beyond ``lambd`` from 0; 0 within."""
    return call("HShrink", input, float(lambd))


@tensor_method("hardshrink")
def _hardshrink(self: Any, lambd: float = 0.5) -> Any:
    return call("HShrink", self, float(lambd))


@tensor_method("soft_shrink")
def soft_shrink(input: Any, lambd: float = 0.5) -> Any:
    """``softshrink`` under its older name, which MindSpore cannot compile (measured:
    ``tests/framework/ops/test_functions.py``)."""
    if not is_eager():
        raise KernelError("soft_shrink cannot be compiled in a graph, because it warns that it is old; use softshrink")
    return call("SoftShrink", input, float(lambd))


def threshold(input: Any, thr: float, value: float) -> Any:
    """``input`` where it is above ``thr``, else ``value``."""
    names: dict[str, Any] = {"output_names": ["y"], "input_names": ["shape", "value"]}
    filled = call("FillV2", int_tensor(input.shape), scalar(value, input.dtype), **names)
    return call("Select", call("Greater", input, scalar(thr, input.dtype)), input, filled)


def rrelu(input: Any, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> Any:
    """``input`` above 0, below it times a number drawn for each element, uniform in [lower, upper)."""
    if not 0 <= lower <= upper <= 1:
        raise SettingError(f"rrelu: 0 <= lower <= upper <= 1 must hold, got {lower} and {upper}")
    signs = call("Sign", input)
    below, above = call("ClampScalar", signs, None, 0), call("ClampScalar", signs, 0, None)
    slopes = uniform(tuple(input.shape), Tensor(lower, dtypes.float32), Tensor(upper, dtypes.float32))
    slopes = call("Cast", slopes, input.dtype) if input.dtype is not dtypes.float32 else slopes
    return call("Mul", call("Muls", call("Mul", below, slopes), -1) + above, input)


def glu(x: Any, axis: int = -1) -> Any:
    """The first half along ``axis``, weighted by the sigmoid of the second."""
    if x.shape[axis_of(axis, len(x.shape), "glu")] % 2:
        raise SettingError(f"glu: axis {axis} of {x.shape} must have an even length")
    first, second = call("Split", x, axis, 2)
    return call("Mul", first, call("Sigmoid", second))
