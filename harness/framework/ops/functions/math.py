"""Elementwise functions of one or two tensors, and Tensor methods of the same names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import DtypeError, SettingError, SettingTypeError, StateError, UnsupportedError
from harness.framework.ops.eager import is_number
from harness.framework.ops.expansion import cast, scalar
from harness.framework.ops.functions.arithmetic import SUB
from harness.framework.ops.functions.inner import abs_of, log1p_of, maximum_of, neg_of
from harness.framework.ops.functions.join import concat
from harness.framework.ops.functions.shape import axis_of
from harness.framework.ops.operators.log import LOG
from harness.framework.tensor import Tensor, call, is_eager, tensor_method

__all__ = [
    "abs", "absolute", "acos", "acosh", "arccos", "arcsin", "arctan", "asin", "asinh", "atan", "atan2", "atanh",
    "ceil", "clamp", "clip", "cos", "cosh", "deg2rad", "diff", "erf", "erfc", "exp", "exp2", "expm1", "float_power",
    "floor", "floordiv", "floormod", "fmax", "fmin", "frac", "log", "log1p", "log2", "log10", "logaddexp", "maximum",
    "minimum", "nextafter", "pows", "rad2deg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "signbit", "sin",
    "sinh", "sqrt", "square", "tan", "tanh", "trunc",
]  # fmt: skip

#: attributes of the older primitives of one argument
ONE: dict[str, Any] = {"output_names": ["output"], "input_names": ["x"]}


def _unary(op: str, *names: str, argument: str = "input") -> Any:
    """A function of one tensor (named ``argument``) that calls ``op``, also as Tensor methods ``names``."""

    def of_input(input: Any) -> Any:
        return call(op, input)

    def of_x(x: Any) -> Any:
        return call(op, x)

    function = of_input if argument == "input" else of_x
    function.__name__ = function.__qualname__ = names[0]
    function.__doc__ = f"``{op}`` of each element."
    return tensor_method(*names)(function)


abs = _unary("Abs", "abs", "absolute", "__abs__")
absolute = abs
acos = _unary("ACos", "acos", "arccos")
acosh = _unary("Acosh", "acosh", "arccosh")
arccos = acos
arcsin = _unary("Asin", "arcsin", argument="x")
asin = _unary("Asin", "asin", "arcsin")
asinh = _unary("Asinh", "asinh", "arcsinh")
atan = _unary("Atan", "atan", "arctan")
arctan = atan
atanh = _unary("Atanh", "atanh", "arctanh")
ceil = _unary("Ceil", "ceil")
cos = _unary("Cos", "cos")
cosh = _unary("Cosh", "cosh")
erf = _unary("Erf", "erf")
erfc = _unary("Erfc", "erfc")
exp = _unary("Exp", "exp")
expm1 = _unary("Expm1", "expm1")
floor = _unary("Floor", "floor")
log1p = _unary("Log1p", "log1p")
reciprocal = _unary("Reciprocal", "reciprocal")
rsqrt = _unary("Rsqrt", "rsqrt")
sigmoid = _unary("Sigmoid", "sigmoid")
sign = _unary("Sign", "sign")
sin = _unary("Sin", "sin")
sinh = _unary("Sinh", "sinh")
sqrt = _unary("Sqrt", "sqrt", argument="x")
square = _unary("Square", "square")
tan = _unary("Tan", "tan")
tanh = _unary("Tanh", "tanh")
trunc = _unary("Trunc", "trunc")


@tensor_method("log")
def log(input: Any) -> Any:
    """Natural logarithm of each element."""
    known = _known_log(input)
    return call("Log", input, **LOG) if known is None else known


def _known_log(input: Any, base: float = math.e) -> Tensor | None:
    """The logarithm of a constant of whole numbers, computed while a graph is made, as Float32 (measured); else None:
    no CPU kernel takes them. To base 10 that of bools is not a number there, and refused here."""
    kinds = "iu" if base == 10.0 else "iub"
    if is_eager() or type(input) is not Tensor or input.dtype.kind not in kinds:
        return None
    with np.errstate(all="ignore"):
        found = np.log(input.asnumpy().astype(np.float64)).astype(np.float32)
        return Tensor(found if base == math.e else found / np.float32(math.log(base)))


@tensor_method("log2")
def log2(input: Any) -> Any:
    """Logarithm to base 2, as a quotient of two logarithms."""
    known = _known_log(input, 2.0)
    return call("Div", log(input), scalar(math.log(2.0), input.dtype)) if known is None else known


@tensor_method("log10")
def log10(input: Any) -> Any:
    """Logarithm to base 10, as a quotient of two logarithms."""
    known = _known_log(input, 10.0)
    return call("Div", log(input), scalar(math.log(10.0), input.dtype)) if known is None else known


def exp2(input: Any) -> Any:
    """2 to the power of each element."""
    return call("Pow", 2.0, input)


def deg2rad(x: Any) -> Any:
    """Degrees as radians."""
    return x * math.pi / 180.0


def rad2deg(x: Any) -> Any:
    """Radians as degrees."""
    return x * 180.0 / math.pi


@tensor_method("round")
def _round(self: Any, decimals: int = 0) -> Any:
    return round(self, decimals=decimals)


def round(input: Any, *, decimals: int = 0) -> Any:
    """To whole numbers, ties to even; as MindSpore's CPU, ``decimals`` can only be 0."""
    if decimals != 0:
        raise UnsupportedError(f"ops.round: decimals must be 0 on CPU, got {decimals}")
    return call("Round", input, Tensor(np.asarray(decimals, np.int64)))


@tensor_method("atan2")
def atan2(input: Any, other: Any) -> Any:
    """The angle of the point (other, input)."""
    return call("Atan2", input, other)


@tensor_method("maximum")
def maximum(input: Any, other: Any) -> Any:
    """The larger of each pair of elements."""
    return call("Maximum", input, other)


@tensor_method("minimum")
def minimum(input: Any, other: Any) -> Any:
    """The smaller of each pair of elements."""
    return call("Minimum", input, other)


def logaddexp(input: Any, other: Any) -> Any:
    """log(e ** input + e ** other), safe from overflow."""
    if "f" not in {input.dtype.kind} & {other.dtype.kind}:
        raise DtypeError(f"logaddexp takes floating tensors, got {input.dtype} and {other.dtype}")
    apart = neg_of(abs_of(call("Sub", input, other, **SUB)))
    return maximum_of(input, other) + log1p_of(call("Exp", apart))


@tensor_method("clamp", "clip")
def _clamp(self: Any, min: Any = None, max: Any = None) -> Any:
    """The same; a tensor without axes beside a number is a number, too (measured)."""
    if is_number(min) or is_number(max):
        min, max = _bound(min), _bound(max)
    return clamp(self, min, max)


def _bound(given: Any) -> Any:
    if type(given) is not Tensor:
        return given
    if given.shape and not is_eager():
        raise SettingError(f"Tensor.clamp: a tensor beside a number has no axes, got shape {given.shape}")
    return given if given.shape else given.asnumpy().item()


def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """Clips values to ``min`` and ``max``, both numbers or both tensors, or None for no bound."""
    given = [v for v in (min, max) if v is not None]
    if not given:
        raise ValueError("ops.clamp needs min or max")
    if any(isinstance(v, bool) for v in given):
        raise SettingError(f"ops.clamp: a bound must be a number, not a bool, got {min!r} and {max!r}")
    if all(is_number(v) for v in given):
        return call("ClampScalar", input, min, max)
    if all(isinstance(v, Tensor) for v in given):
        return call("ClampTensor", input, min, max)
    raise SettingTypeError("ops.clamp takes two numbers or two tensors as bounds, not one of each")


clip = clamp


def floordiv(input: Any, other: Any) -> Any:
    """floor(input / other)."""
    return call("FloorDiv", input, other)


def floormod(x: Any, y: Any) -> Any:
    """x - floor(x / y) * y."""
    return call("FloorMod", x, y)


@tensor_method("diff")
def diff(x: Tensor, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Each element less the one before it along ``axis``; ``n`` can only be 1."""
    if not x.shape:
        raise SettingTypeError("diff: a tensor of at least one dimension is needed")
    if isinstance(n, bool) or not isinstance(n, int):
        raise SettingTypeError(f"diff: n must be an int, got {n!r}")
    if n != 1:
        raise StateError(f"diff: n must be 1, got {n}")
    members = tuple(each for each in (prepend, x, append) if each is not None)
    x = concat(members, axis) if len(members) > 1 else x
    places = np.arange(x.shape[axis_of(axis, len(x.shape), "diff")])
    later, earlier = (call("Gather", x, Tensor(part), axis, 0, batch_dims=0) for part in (places[1:], places[:-1]))
    return call("Sub", later, earlier, **SUB)  # type: ignore[no-any-return]


@tensor_method("float_power")
def float_power(input: Any, exponent: Any) -> Tensor:
    """``input ** exponent`` in Float64."""
    if not isinstance(input, Tensor) and not isinstance(exponent, Tensor):
        raise SettingTypeError("float_power takes a tensor, as input or as exponent")
    base, power = (cast(v, dtypes.float64) if isinstance(v, Tensor) else v for v in (input, exponent))
    return call("Pow", base, power)  # type: ignore[no-any-return]


@tensor_method("frac")
def frac(x: Tensor) -> Tensor:
    """What follows the point, with the sign of ``x``."""
    return call("Mod", x, 1, output_names=["output"], input_names=["x", "y"])  # type: ignore[no-any-return]


@tensor_method("signbit")
def signbit(input: Tensor) -> Tensor:
    """Whether an element is below 0."""
    return call("LessScalar", input, 0)  # type: ignore[no-any-return]


def pows(input: Any, exponent: Any) -> Any:
    """``input ** exponent``."""
    return call("Pow", input, exponent)


@tensor_method("nextafter")
def nextafter(input: Any, other: Any) -> Any:
    """The next number after each element on the way to ``other``."""
    return call("NextAfter", input, other)


@tensor_method("fmax")
def fmax(input: Any, other: Any) -> Any:
    """The larger of two; the other one where one is NaN."""
    return call("Fmax", input, other)


@tensor_method("fmin")
def fmin(input: Any, other: Any) -> Any:
    """The smaller of two; the other one where one is NaN."""
    return -fmax(-input, -other)
