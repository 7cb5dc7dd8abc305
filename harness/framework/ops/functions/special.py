"""Special functions, and whole-number arithmetic of two tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import DtypeError
from harness.framework.ops.expansion import cast, scalar
from harness.framework.ops.functions.arithmetic import SUB
from harness.framework.ops.functions.math import acosh, asinh, atan2, atanh
from harness.framework.tensor import Tensor, call, tensor_method

__all__ = [
    "arccosh", "arcsinh", "arctan2", "arctanh", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0",
    "bessel_j1", "bessel_k0", "bessel_k0e", "bessel_k1", "bessel_k1e", "bessel_y0", "bessel_y1", "bitwise_left_shift",
    "bitwise_right_shift", "digamma", "erfinv", "gcd", "heaviside", "i0", "igamma", "igammac", "inv", "isneginf",
    "isposinf", "isreal", "lcm", "ldexp", "lgamma", "logaddexp2", "logcumsumexp", "logit", "mvlgamma", "polygamma",
    "sinc", "xdivy", "xlogy", "zeta",
]  # fmt: skip

arccosh, arcsinh, arctanh = acosh, asinh, atanh


def arctan2(input: Any, other: Any) -> Any:
    """The angle of the point (other, input)."""
    return atan2(input, other)


tensor_method("arctan2")(arctan2)
_Y: dict[str, Any] = {"output_names": ["y"], "input_names": ["x"]}
_TWO: dict[str, Any] = {"output_names": ["y"], "input_names": ["x1", "x2"]}


def _floating(name: str, x: Any) -> None:
    if x.dtype.kind != "f":
        raise DtypeError(f"{name} takes floating tensors, got {x.dtype}")


@tensor_method("digamma")
def digamma(input: Any) -> Any:
    """The derivative of ``lgamma``."""
    _floating("digamma", input)
    return call("Digamma", input, output_names=["output"], input_names=["input"])


@tensor_method("lgamma")
def lgamma(input: Any) -> Any:
    """The logarithm of the size of the gamma function."""
    return call("Lgamma", input, **_Y)


@tensor_method("mvlgamma")
def mvlgamma(input: Any, p: int) -> Any:
    """The logarithm of the gamma function of ``p`` dimensions."""
    return call("Mvlgamma", input, output_names=["y"], p=p, input_names=["x"])


def polygamma(n: Any, input: Any) -> Any:
    """Derivative number ``n`` (a 0-d integer tensor) of ``digamma``."""
    return call("Polygamma", n, input, output_names=["y"], input_names=["a", "x"])


@tensor_method("igamma")
def igamma(input: Any, other: Any) -> Any:
    """The lower regularized incomplete gamma function."""
    return call("Igamma", input, other, output_names=["z"], input_names=["a", "x"])


@tensor_method("igammac")
def igammac(input: Any, other: Any) -> Any:
    """The upper regularized incomplete gamma function."""
    return call("Igammac", input, other, output_names=["z"], input_names=["a", "x"])


def zeta(input: Any, other: Any) -> Any:
    """Hurwitz's zeta function."""
    return call("Zeta", input, other)


@tensor_method("erfinv")
def erfinv(input: Any) -> Any:
    """The inverse of ``erf``."""
    return call("Erfinv", input)


@tensor_method("sinc")
def sinc(input: Any) -> Any:
    """sin(pi x) / (pi x)."""
    return call("Sinc", input)


@tensor_method("inv")
def inv(x: Any) -> Any:
    """1 / x."""
    return call("Inv", x)


@tensor_method("xdivy")
def xdivy(x: Any, y: Any) -> Any:
    """x / y, and 0 where x is 0."""
    return call("Xdivy", x, y, output_names=["output"], input_names=["x", "y"])


@tensor_method("gcd")
def gcd(input: Any, other: Any) -> Any:
    """The greatest common divisor."""
    return call("Gcd", input, other)


@tensor_method("lcm")
def lcm(input: Any, other: Any) -> Any:
    """The least common multiple."""
    return call("Lcm", input, other, **_TWO)


@tensor_method("bitwise_left_shift")
def bitwise_left_shift(input: Any, other: Any) -> Any:
    """Bits moved up."""
    return call("LeftShift", input, other)


@tensor_method("bitwise_right_shift")
def bitwise_right_shift(input: Any, other: Any) -> Any:
    """Bits moved down."""
    return call("RightShift", input, other)


def bessel_i0(x: Any) -> Any:
    """The modified Bessel function of order 0."""
    return call("BesselI0", x, output_names="y", input_names=["x"])


@tensor_method("i0")
def i0(input: Any) -> Any:
    """As ``bessel_i0``."""
    return bessel_i0(input)


def bessel_i1(x: Any) -> Any:
    """The modified Bessel function of order 1."""
    return call("BesselI1", x)


def bessel_i0e(x: Any) -> Any:
    """``bessel_i0`` times e ** -abs(x)."""
    return call("BesselI0e", x, output_names="output", input_names=["x"])


def bessel_i1e(x: Any) -> Any:
    """``bessel_i1`` times e ** -abs(x)."""
    return call("BesselI1e", x, output_names="output", input_names=["x"])


def _cylinder(name: str, said: str, attrs: dict[str, Any]) -> Any:
    def function(x: Any) -> Any:
        return call(name, x, **attrs)

    function.__name__ = function.__qualname__ = f"bessel_{name.removeprefix('Bessel').lower()}"
    function.__doc__ = said
    return function


_OUT: dict[str, Any] = {"output_names": ["output"], "input_names": ["x"]}
bessel_j0 = _cylinder("BesselJ0", "The Bessel function of the first kind of order 0.", _OUT)
bessel_j1 = _cylinder("BesselJ1", "The Bessel function of the first kind of order 1.", _OUT)
bessel_y0 = _cylinder("BesselY0", "The Bessel function of the second kind of order 0.", _OUT)
bessel_y1 = _cylinder("BesselY1", "The Bessel function of the second kind of order 1.", _OUT)
bessel_k0 = _cylinder("BesselK0", "The modified Bessel function of the second kind of order 0.", {})
bessel_k1 = _cylinder("BesselK1", "The modified Bessel function of the second kind of order 1.", {})
bessel_k0e = _cylinder("BesselK0e", "``bessel_k0`` times e ** x.", {})
bessel_k1e = _cylinder("BesselK1e", "``bessel_k1`` times e ** x.", {})


@tensor_method("logaddexp2")
def logaddexp2(input: Any, other: Any) -> Any:
    """The logarithm to base 2 of 2 ** input + 2 ** other."""
    largest = call("Maximum", input, other)
    apart = call("Neg", call("Abs", call("Sub", input, other, **SUB)))
    added = call("Add", 1, call("Pow", 2, apart))
    return call("Add", largest, call("Div", added.log(), scalar(math.log(2.0), added.dtype)))


@tensor_method("ldexp")
def ldexp(x: Any, other: Any) -> Any:
    """x * 2 ** other."""
    return call("Mul", x, call("Pow", 2.0, other))


@tensor_method("logcumsumexp")
def logcumsumexp(input: Any, axis: int) -> Any:
    """The logarithm of the sums of e ** input up to each element along ``axis``."""
    at = Tensor(np.asarray(axis, np.int64))
    names: dict[str, Any] = {"output_names": ["y"], "reverse": False, "input_names": ["x", "axis"], "exclusive": False}
    return call("CumulativeLogsumexp", input, at, **names)


def _full(like: Any, value: float) -> Tensor:
    return Tensor(np.full(tuple(like.shape), value, np.float32))


def _infinite(input: Any, side: Any) -> Any:
    ones, zeros = _full(input, 1), _full(input, 0)
    chosen = call("Select", side, call("Select", call("IsInf", input), ones, zeros), zeros)
    return call("Cast", chosen, dtypes.bool_)


@tensor_method("isposinf")
def isposinf(input: Any) -> Any:
    """Whether an element is infinite and above 0."""
    return _infinite(
        input, call("Greater", input, Tensor(np.zeros(tuple(input.shape), input.dtype.numpy), input.dtype))
    )


def isneginf(input: Any) -> Any:
    """Whether an element is infinite and below 0."""
    return _infinite(input, call("Less", input, Tensor(np.zeros(tuple(input.shape), input.dtype.numpy), input.dtype)))


@tensor_method("isneginf")
def _isneginf(self: Any) -> Any:
    return call("LogicalAnd", call("IsInf", self), self < 0)


@tensor_method("isreal")
def isreal(input: Any) -> Any:
    """Whether an element has no imaginary part."""
    if input.dtype.kind == "c":
        return cast(call("Imag", input) == 0, dtypes.bool_)
    return Tensor(np.ones(tuple(input.shape), bool))


@tensor_method("heaviside")
def heaviside(input: Any, values: Any) -> Any:
    """0 below 0, 1 above, ``values`` at 0; both of one dtype."""
    if input.dtype is not values.dtype:
        raise DtypeError(f"heaviside takes two tensors of one dtype, got {input.dtype} and {values.dtype}")
    return call("Heaviside", input, values, output_names=["y"], input_names=["x", "values"])


@tensor_method("logit")
def logit(input: Any, eps: float | None = None) -> Any:
    """log(x / (1 - x)), of x within [eps, 1 - eps] where ``eps`` is given."""
    return call("Logit", input, -1.0 if eps is None else float(eps))


@tensor_method("xlogy")
def xlogy(input: Any, other: Any) -> Any:
    """input * log(other)."""
    return call("Xlogy", input, other)
