"""BesselI0, BesselI1 and the same times e ** -abs(x)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, operator
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


@operator
class BesselI0(_Bessel):
    """Order 0."""

    name = "BesselI0"

    @staticmethod
    def function(x: Array) -> Array:
        return scaled(0, x) * np.exp(np.abs(x))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Mul", b.dout, emit("BesselI1", b.inputs[0], **_Y)),)


@operator
class BesselI1(_Bessel):
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
