"""BesselI0, BesselI1 and the same times e ** -abs(x); BesselJ0, BesselJ1, BesselY0, BesselY1; BesselK0, BesselK1 and
the same times e ** x."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from harness.framework.ops import cylinder, numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Floating
from harness.framework.ops.expansion import scalar
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit

#: up to here the series is summed (all its terms have one sign), from here on the asymptotic one
_SERIES_TO = 40
_TERMS = 140
_LATE_TERMS = 40
_Y: dict[str, Any] = {"output_names": ("y",), "input_names": ("x",)}
_OUTPUT: dict[str, Any] = {"output_names": ("output",), "input_names": ("x",)}


def scaled(order: int, x: Array) -> Array:
    """I of ``order`` 0 or 1 times e ** -abs(x), for x in long double."""
    size = np.abs(np.asarray(x, np.longdouble))
    near = np.minimum(size, _SERIES_TO)
    quarter = near * near / 4
    term = np.ones_like(near)
    total = term.copy()
    for n in range(1, _TERMS):
        term = term * quarter / (n * (n + order))
        total = total + term
    total = total * np.exp(-near) * (near / 2 if order else 1)
    far = np.maximum(size, _SERIES_TO)
    late, term = np.ones_like(far), np.ones_like(far)
    for n in range(1, _LATE_TERMS):
        term = term * ((2 * n - 1) ** 2 - 4 * order * order) / (8 * n * far)
        late = late + term
    late = late / np.sqrt(2 * np.longdouble("3.14159265358979323846264338327950288") * far)
    out = np.where(size < _SERIES_TO, total, late)
    return np.where(np.isnan(x), np.nan, np.copysign(out, x) if order else out)


class _Bessel(Floating):
    functional = False
    accepts = "f"


class _Unscaled(_Bessel):
    """Infinite where e ** abs(x) is, in the dtype of ``x`` (measured)."""

    def kernel(self, call: Call, x: Array, *_settings: Any) -> Array:
        found = super().kernel(call, x)
        beyond = np.isinf(np.exp(np.abs(x))) & np.isfinite(x)
        return np.where(beyond, np.copysign(np.inf, found), found)


@operator
class BesselI0(_Unscaled):
    """Order 0."""

    name = "BesselI0"

    @staticmethod
    def function(x: Array) -> Array:
        return scaled(0, x) * np.exp(np.abs(x))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Mul", b.dout, emit("BesselI1", b.inputs[0], **_Y)),)


@operator
class BesselI1(_Unscaled):
    """Order 1."""

    name = "BesselI1"

    @staticmethod
    def function(x: Array) -> Array:
        return scaled(1, x) * np.exp(np.abs(x))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x = b.inputs[0]
        nothing = emit("Equal", x, Tensor(np.zeros(x.shape, x.dtype.numpy), x.dtype))
        slope = emit("Sub", emit("BesselI0", x, **_Y), emit("Div", b.out, x))
        ones = Tensor(np.ones(x.shape, x.dtype.numpy), x.dtype)
        return (emit("Mul", b.dout, emit("Select", nothing, ones, slope)),)


@operator
class BesselI0e(_Bessel):
    """Order 0, scaled."""

    name = "BesselI0e"

    @staticmethod
    def function(x: Array) -> Array:
        return scaled(0, x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x = b.inputs[0]
        first = emit("BesselI1e", x, **_OUTPUT)
        return (emit("Mul", b.dout, emit("Sub", first, emit("Mul", emit("Sign", x), b.out))),)


@operator
class BesselI1e(_Bessel):
    """Order 1, scaled."""

    name = "BesselI1e"

    @staticmethod
    def function(x: Array) -> Array:
        return scaled(1, x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x = b.inputs[0]
        zeros = Tensor(np.zeros(x.shape, x.dtype.numpy), x.dtype)
        least = scalar(np.finfo(np.float32).eps, x.dtype)
        far = emit("Less", least, emit("Abs", x))
        safe = emit("Select", far, x, emit("Add", least, zeros))
        weight = emit("Add", emit("Sign", safe), emit("Reciprocal", safe))
        slope = emit("Sub", emit("BesselI0e", safe, **_OUTPUT), emit("Mul", b.out, weight))
        half = emit("Add", scalar(0.5, x.dtype), zeros)
        return (emit("Mul", emit("Select", far, slope, half), b.dout),)


class _Wave(_Bessel):
    """J, or Y where ``second``, of ``order``."""

    order: ClassVar[int]
    second: ClassVar[bool] = False

    def kernel(self, call: Call, x: Array, *_settings: Any) -> Array:
        if call.dtype(0).numpy == np.float32:
            return cylinder.phased(self.order, x, self.second)
        return numerics.widest(self.function, x)


class _Order0(_Wave):
    order = 0
    next_order: ClassVar[str]

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Mul", emit("Neg", b.dout), emit(self.next_order, b.inputs[0], **_OUTPUT)),)


@operator
class BesselJ0(_Order0):
    """The first kind, order 0."""

    name = "BesselJ0"
    next_order = "BesselJ1"

    @staticmethod
    def function(x: Array) -> Array:
        return cylinder.j(0, x)


@operator
class BesselY0(_Order0):
    """The second kind, order 0."""

    name = "BesselY0"
    next_order = "BesselY1"
    second = True

    @staticmethod
    def function(x: Array) -> Array:
        return cylinder.y(0, x)


@operator
class BesselJ1(_Wave):
    """The first kind, order 1."""

    name = "BesselJ1"
    order = 1

    @staticmethod
    def function(x: Array) -> Array:
        return cylinder.j(1, x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x = b.inputs[0]
        nothing = emit("Equal", x, Tensor(np.zeros(x.shape, x.dtype.numpy), x.dtype))
        slope = emit("Sub", emit("BesselJ0", x, **_OUTPUT), emit("Div", b.out, x))
        half = Tensor(np.full(x.shape, 0.5, x.dtype.numpy), x.dtype)
        return (emit("Mul", b.dout, emit("Select", nothing, half, slope)),)


@operator
class BesselY1(_Wave):
    """The second kind, order 1."""

    name = "BesselY1"
    order = 1
    second = True

    @staticmethod
    def function(x: Array) -> Array:
        return cylinder.y(1, x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x = b.inputs[0]
        slope = emit("Sub", emit("BesselY0", x, **_OUTPUT), emit("Div", b.out, x))
        return (emit("Mul", b.dout, slope),)


@operator
class BesselK0(_Bessel):
    """The modified second kind, order 0."""

    name = "BesselK0"

    @staticmethod
    def function(x: Array) -> Array:
        return cylinder.k(0, x) * np.exp(-np.maximum(x, 0))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Mul", emit("Neg", b.dout), emit("BesselK1", b.inputs[0], **_Y)),)


@operator
class BesselK1(_Bessel):
    """The modified second kind, order 1."""

    name = "BesselK1"

    @staticmethod
    def function(x: Array) -> Array:
        return cylinder.k(1, x) * np.exp(-np.maximum(x, 0))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x = b.inputs[0]
        slope = emit("Neg", emit("Add", emit("BesselK0", x, **_Y), emit("Div", b.out, x)))
        return (emit("Mul", b.dout, slope),)


@operator
class BesselK0e(_Bessel):
    """The modified second kind, order 0, scaled."""

    name = "BesselK0e"

    @staticmethod
    def function(x: Array) -> Array:
        return cylinder.k(0, x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Mul", b.dout, emit("Sub", b.out, emit("BesselK1e", b.inputs[0], **_Y))),)


@operator
class BesselK1e(_Bessel):
    """The modified second kind, order 1, scaled."""

    name = "BesselK1e"

    @staticmethod
    def function(x: Array) -> Array:
        return cylinder.k(1, x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x = b.inputs[0]
        weight = emit("Sub", scalar(1, x.dtype), emit("Reciprocal", x))
        slope = emit("Sub", emit("Mul", b.out, weight), emit("BesselK0e", x, **_Y))
        return (emit("Mul", b.dout, slope),)
