"""Lgamma, Digamma, Polygamma, Mvlgamma, Igamma, Igammac and Zeta."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import gammas
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.elementwise import Binary, Floating, check_kind
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec


def _names(outputs: str, *inputs: str) -> dict[str, Any]:
    return {"output_names": (outputs,), "input_names": inputs}


@operator
class Lgamma(Floating):
    """The logarithm of the size of the gamma function."""

    name = "Lgamma"
    functional = False
    accepts = "fi"

    @staticmethod
    def function(x: Array) -> Array:
        return gammas.lgamma(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Mul", b.dout, emit("Digamma", b.inputs[0], **_names("output", "input"))),)


@operator
class Digamma(Floating):
    """The derivative of Lgamma."""

    name = "Digamma"
    functional = False

    @staticmethod
    def function(x: Array) -> Array:
        return gammas.digamma(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        first = Tensor(np.asarray(1, np.int64))
        return (emit("Mul", b.dout, emit("Polygamma", first, b.inputs[0], **_names("y", "a", "x"))),)


@operator
class Polygamma(Operator):
    """The order of the derivative (a 0-d integer tensor), and where."""

    name = "Polygamma"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "i", 0)
        check_kind(call, "f", 1)
        return call.tensor(1).tensor

    def kernel(self, call: Call, order: Array, x: Array) -> Array:
        return gammas.polygamma(int(order.reshape(())), x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        order, x = b.inputs
        following = emit("AddScalar", order, 1, 1)
        return None, emit("Mul", b.dout, emit("Polygamma", following, x, **_names("y", "a", "x")))


@operator
class Mvlgamma(Operator):
    """The multivariate form; attribute ``p``: of how many dimensions."""

    name = "Mvlgamma"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array) -> Array:
        p = call.attrs["p"]
        total: Any = np.longdouble(p * (p - 1)) / 4 * np.log(gammas._PI)
        for at in range(p):
            total = total + gammas.lgamma(x.astype(np.longdouble) - np.longdouble(at) / 2)
        return np.asarray(total)

    def gradient(self, b: Backward) -> Sequence[Any]:
        attrs: dict[str, Any] = {"output_names": ("x_grad",), "p": b.attrs["p"], "input_names": ("y_grad", "x")}
        return (emit("MvlgammaGrad", b.dout, b.inputs[0], **attrs),)


@operator
class MvlgammaGrad(Operator):
    """dout and x; attribute ``p``."""

    name = "MvlgammaGrad"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        return call.tensor(1).tensor

    def kernel(self, call: Call, dout: Array, x: Array) -> Array:
        total: Any = np.longdouble(0)
        for at in range(call.attrs["p"]):
            total = total + gammas.digamma(x.astype(np.longdouble) - np.longdouble(at) / 2)
        return np.asarray(dout * total)


class _Incomplete(Binary):
    functional = False
    accepts = "f"


@operator
class IgammaGradA(_Incomplete):
    """The derivative of Igamma by its first argument."""

    name = "IgammaGradA"

    def kernel(self, call: Call, a: Array, x: Array) -> Array:
        return gammas.igamma_slope(a, x)


def _slopes(b: Backward, turned: bool) -> Sequence[Any]:
    """The gradients of Igamma, or with the other sign those of Igammac."""
    (a, x), dout = b.inputs, b.dout
    da = emit("Mul", emit("IgammaGradA", a, x, **_names("z", "a", "x")), dout)
    logarithm = emit("Log", x, shift=0.0, scale=1.0, cust_aicpu="Log", base=-1.0)
    inner = emit("Add", emit("Neg", x), emit("Mul", emit("SubScalar", a, 1, 1), logarithm))
    inner = emit("Sub", inner, emit("Lgamma", a, **_names("y", "x")))
    dx = emit("Mul", emit("Exp", inner, shift=0.0, scale=1.0, base=-1.0), dout)
    if turned:
        da, dx = emit("Neg", da), emit("Neg", dx)
    return reduce_to(da, a), reduce_to(dx, x)


@operator
class Igamma(_Incomplete):
    """The lower regularized incomplete gamma function of (a, x)."""

    name = "Igamma"

    def kernel(self, call: Call, a: Array, x: Array) -> Array:
        return gammas.igamma(a, x)[0]

    def gradient(self, b: Backward) -> Sequence[Any]:
        return _slopes(b, False)


@operator
class Igammac(_Incomplete):
    """1 - Igamma."""

    name = "Igammac"

    def kernel(self, call: Call, a: Array, x: Array) -> Array:
        return gammas.igamma(a, x)[1]

    def gradient(self, b: Backward) -> Sequence[Any]:
        return _slopes(b, True)


@operator
class Zeta(_Incomplete):
    """Hurwitz's zeta function of (s, q)."""

    name = "Zeta"

    def kernel(self, call: Call, s: Array, q: Array) -> Array:
        return gammas.zeta(s, q)

    def gradient(self, b: Backward) -> Sequence[Any]:
        s, q = b.inputs
        following = emit("AddScalar", s, 1, 1)
        return None, reduce_to(
            emit("Mul", emit("Mul", emit("Neg", s), emit("Zeta", following, q, **_names("z", "x", "q"))), b.dout), q
        )
