"""Functions of numbers written with others: signs, counts, common divisors, logarithms of sums, integrals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import DtypeError, SettingError, SettingTypeError
from harness.framework.ops.eager import is_number
from harness.framework.ops.expansion import cast
from harness.framework.ops.functions.arithmetic import mul, pow
from harness.framework.ops.functions.math import abs, exp2, log1p, maximum, sin
from harness.framework.tensor import Tensor, call, tensor_method

__all__ = [
    "bincount", "copysign", "gcd", "isneginf", "isposinf", "isreal", "lcm", "ldexp", "logaddexp2", "sinc", "trapz",
]  # fmt: skip


@tensor_method("bincount")
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """Float32 counts of the whole numbers in ``input`` (one axis), or sums of their ``weights``; ``minlength`` of them
    at least.

    Raises:
        SettingError: ``minlength`` or a number is negative.
    """
    if isinstance(minlength, bool) or not isinstance(minlength, int):
        raise SettingTypeError(f"bincount: minlength must be an int, got {minlength!r}")
    if minlength < 0:
        raise SettingError(f"bincount: minlength must be 0 or above, got {minlength}")
    return call("Bincount", input, minlength, weights)


@tensor_method("copysign")
def copysign(x: Any, other: Any) -> Any:
    """The size of ``x``, negative where ``other`` (a tensor or a number) is; whole numbers become Float32."""
    if x.dtype.kind in "bc":
        raise DtypeError(f"copysign takes whole and floating tensors, got {x.dtype}")
    size = abs(x if x.dtype.kind == "f" else cast(x, dtypes.float32))
    if is_number(other):
        return call("Neg", size) if other < 0 else size
    return call("Select", call("Less", other, 0), call("Neg", size), size)


@tensor_method("gcd")
def gcd(input: Any, other: Any) -> Any:
    """The greatest common divisor of each pair."""
    return call("Gcd", input, other)


@tensor_method("lcm")
def lcm(input: Any, other: Any) -> Any:
    """The least common multiple of each pair."""
    return call("Lcm", input, other)


@tensor_method("sinc")
def sinc(input: Any) -> Any:
    """sin(pi x) / (pi x), 1 at 0; whole numbers become Float32."""
    x = input if input.dtype.kind in "fc" else cast(input, dtypes.float32)
    at_zero = call("Equal", x, 0)
    angle = mul(call("Select", at_zero, call("OnesLike", x), x), math.pi)
    return call("Select", at_zero, call("OnesLike", x), call("Div", sin(angle), angle))


def _infinite(x: Any, sign: str) -> Any:
    return call("Equal", x, Tensor(np.asarray(float(sign + "inf")), x.dtype if x.dtype.kind == "f" else dtypes.float32))


@tensor_method("isneginf")
def isneginf(input: Any) -> Any:
    """Whether each element is minus infinity."""
    return _infinite(input, "-")


@tensor_method("isposinf")
def isposinf(input: Any) -> Any:
    """Whether each element is infinity."""
    return _infinite(input, "+")


@tensor_method("isreal")
def isreal(input: Any) -> Any:
    """Whether each element has no imaginary part."""
    if input.dtype.kind == "c":
        return call("Equal", call("Imag", input), 0)
    return cast(call("OnesLike", input), dtypes.bool_)


@tensor_method("ldexp")
def ldexp(x: Any, other: Any) -> Any:
    """x * 2 ** other."""
    return mul(x, pow(2.0, other))


def logaddexp2(input: Any, other: Any) -> Any:
    """The logarithm to base 2 of 2 ** input + 2 ** other, safe from overflow."""
    if "f" not in {input.dtype.kind} & {other.dtype.kind}:
        raise DtypeError(f"logaddexp2 takes floating tensors, got {input.dtype} and {other.dtype}")
    apart = call("Neg", abs(input - other))
    return maximum(input, other) + log1p(exp2(apart)) * (1 / math.log(2.0))


def trapz(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Any:
    """The integral of ``y`` along ``dim`` by trapezoids, of width ``dx`` or between the places ``x``."""
    count = y.shape[dim]
    first, last = (_cut(y, dim, at, count - 1) for at in (0, 1))
    if x is None:
        return ((first + last) * (dx / 2.0)).sum(dim)
    along = dim if len(x.shape) > 1 else 0
    width = _cut(x, along, 1, count - 1) - _cut(x, along, 0, count - 1)
    if len(x.shape) == 1 and dim % len(y.shape) != len(y.shape) - 1:
        width = width.reshape((-1,) + (1,) * (len(y.shape) - 1 - dim % len(y.shape)))
    return ((first + last) * width / 2.0).sum(dim)


def _cut(x: Any, dim: int, start: int, count: int) -> Any:
    begin, size = [0] * len(x.shape), list(x.shape)
    begin[dim], size[dim] = start, count
    return call("Slice", x, tuple(begin), tuple(size))
