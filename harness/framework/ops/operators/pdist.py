"""Pdist and PdistGrad: distances between each two rows of one matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def _apart(x: Array) -> tuple[Array, Array, Array]:
    """x (n, m): the numbers of the first and second rows of each pair, and their differences in long double."""
    first, second = np.triu_indices(x.shape[0], 1)
    wide = numerics.wide(x).astype(np.longdouble)
    return first, second, wide[first] - wide[second]


@operator
class Pdist(Operator):
    """x (n, m), attribute p: the p-norms (n * (n - 1) / 2,); p 0 counts what differs."""

    name = "Pdist"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        x = call.shape(0)
        if len(x) != 2:
            raise call.fail("a matrix is needed")
        return TensorSpec(call.dtype(0), (x[0] * (x[0] - 1) // 2,))

    def kernel(self, call: Call, x: Array) -> Array:
        p, size = call.attrs["p"], np.abs(_apart(x)[2])
        if p == 0:
            return np.asarray((size != 0).sum(-1, dtype=np.float64))
        if math.isinf(p):
            return np.asarray(size.max(-1, initial=0.0))
        return np.asarray(numerics.total(size**p, -1) ** (1 / np.longdouble(p)))

    def gradient(self, b: Backward) -> Sequence[Any]:
        attrs: dict[str, Any] = {"output_names": ("x_grad",), "p": b.attrs["p"], "input_names": ("y_grad", "x", "y")}
        return (emit("PdistGrad", b.dout, b.inputs[0], b.out, **attrs),)


@operator
class PdistGrad(Operator):
    """dout, x, distances, attribute p: the gradient of x. 0 where a distance is 0."""

    name = "PdistGrad"
    functional = False
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        return call.tensor(1).tensor

    def kernel(self, call: Call, dout: Array, x: Array, distance: Array) -> Array:
        p = call.attrs["p"]
        first, second, apart = _apart(x)
        dout, distance = (numerics.wide(a).astype(np.longdouble)[:, None] for a in (dout, distance))
        safe = np.where(distance == 0, 1, distance)
        if p == 0:
            slope = np.zeros_like(apart)
        elif math.isinf(p):
            slope = np.sign(apart) * (np.abs(apart) == distance)
        else:
            slope = np.sign(apart) * (np.abs(apart) / safe) ** (np.longdouble(p) - 1)
        part = np.where(distance == 0, 0, slope * dout)
        out = np.zeros(x.shape, np.longdouble)
        np.add.at(out, first, part)
        np.add.at(out, second, -part)
        return out
