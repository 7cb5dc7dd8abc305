"""LRN: each element divided by a power of the squares of its neighbours over channels; and its gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.framework.tensor import call as emit
from harness.graph import Spec


def _window_sums(x: Array, radius: int) -> Array:
    """Sums over the channels at most ``radius`` away."""
    out = np.zeros_like(x)
    for c in range(x.shape[1]):
        out[:, c] = numerics.total(x[:, max(0, c - radius) : c + radius + 1], 1)
    return out


def _scale(x: Array, attrs: Mapping[str, Any]) -> Array:
    return np.asarray(attrs["bias"] + attrs["alpha"] * _window_sums(x * x, attrs["depth_radius"]))


@operator
class LRN(Operator):
    """x (n, c, h, w) / (bias + alpha * sum of squares) ** beta."""

    name = "LRN"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        if len(call.shape(0)) != 4:
            raise call.fail("the input must be (n, c, h, w)")
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array) -> Array:
        values = numerics.wide(x)
        return np.asarray(values * _scale(values, call.attrs) ** -call.attrs["beta"])

    def gradient(self, b: Backward) -> Sequence[Any]:
        kept = {name: b.attrs[name] for name in ("beta", "depth_radius", "bias", "alpha")}
        attrs = {"input_names": ("x",), "output_names": ("y",), **kept}
        return (emit("LRNGrad", b.dout, b.inputs[0], b.out, **attrs),)


@operator
class LRNGrad(Operator):
    """dout, x, result."""

    name = "LRNGrad"
    functional = False
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        return call.tensor(1).tensor

    def kernel(self, call: Call, dout: Array, x: Array, _out: Array) -> Array:
        g, values, attrs = numerics.wide(dout), numerics.wide(x), call.attrs
        scale = _scale(values, attrs)
        out = values * scale ** -attrs["beta"]
        through = _window_sums(g * out / scale, attrs["depth_radius"])
        return np.asarray(g * scale ** -attrs["beta"] - 2 * attrs["alpha"] * attrs["beta"] * values * through)
