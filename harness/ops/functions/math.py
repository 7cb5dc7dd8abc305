"""Elementwise functions of one tensor, and Tensor methods of the same names."""

from __future__ import annotations

import math
from typing import Any

from harness.ops.operators.log import LOG
from harness.tensor import call, tensor_method

__all__ = [
    "abs", "absolute", "cos", "cosh", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "reciprocal", "rsqrt", "sigmoid", "sign",
    "sin", "sinh", "sqrt", "square", "tan", "tanh",
]  # fmt: skip


def _unary(op: str, *names: str) -> Any:
    def function(input: Any) -> Any:
        return call(op, input)

    function.__name__ = function.__qualname__ = names[0]
    function.__doc__ = f"``{op}`` of each element."
    return tensor_method(*names)(function)


abs = _unary("Abs", "abs", "absolute", "__abs__")
absolute = abs
sign = _unary("Sign", "sign")
exp = _unary("Exp", "exp")
expm1 = _unary("Expm1", "expm1")
log1p = _unary("Log1p", "log1p")
sqrt = _unary("Sqrt", "sqrt")
rsqrt = _unary("Rsqrt", "rsqrt")
reciprocal = _unary("Reciprocal", "reciprocal")
square = _unary("Square", "square")
sin = _unary("Sin", "sin")
cos = _unary("Cos", "cos")
tan = _unary("Tan", "tan")
sinh = _unary("Sinh", "sinh")
cosh = _unary("Cosh", "cosh")
tanh = _unary("Tanh", "tanh")
sigmoid = _unary("Sigmoid", "sigmoid")


@tensor_method("log")
def log(input: Any) -> Any:
    """Natural logarithm of each element."""
    return call("Log", input, **LOG)


@tensor_method("log2")
def log2(input: Any) -> Any:
    """Logarithm to base 2, as a quotient of two logarithms."""
    return call("Div", log(input), _typed(math.log(2.0), input))


@tensor_method("log10")
def log10(input: Any) -> Any:
    """Logarithm to base 10, as a quotient of two logarithms."""
    return call("Div", log(input), _typed(math.log(10.0), input))


def exp2(input: Any) -> Any:
    """2 to the power of each element."""
    return call("Pow", 2.0, input)


def _typed(number: float, like: Any) -> Any:
    from harness.ops.composite import scalar

    return scalar(number, like.dtype)
