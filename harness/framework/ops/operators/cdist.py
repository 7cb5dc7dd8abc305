"""Cdist and CdistGrad: distances between the rows of two matrices."""

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


def _apart(x: Array, y: Array) -> Array:
    """x (..., P, M), y (..., R, M): their differences (..., P, R, M), in long double."""
    wide = [numerics.wide(a).astype(np.longdouble) for a in (x, y)]
    return np.asarray(wide[0][..., :, None, :] - wide[1][..., None, :, :])


@operator
class Cdist(Operator):
    """x (..., P, M), y (..., R, M), p: the p-norms (..., P, R) of the rows' differences; p 0 counts what differs."""

    name = "Cdist"
    tensors = (0, 1)
    same_dtype = (0, 1)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0, 1)
        x, y = call.shape(0), call.shape(1)
        if len(x) < 2 or len(x) != len(y) or x[-1] != y[-1] or x[:-2] != y[:-2]:
            raise call.fail("two stacks of matrices with rows of one length are needed")
        return TensorSpec(call.dtype(0), (*x[:-1], y[-2]))

    def kernel(self, call: Call, x: Array, y: Array, p: float) -> Array:
        size = np.abs(_apart(x, y))
        if p == 0:
            return np.asarray((size != 0).sum(-1, dtype=np.float64))
        if math.isinf(p):
            return np.asarray(size.max(-1, initial=0.0))
        return np.asarray(numerics.total(size**p, -1) ** (1 / np.longdouble(p)))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y, p = b.inputs
        order = (*range(len(x.shape) - 2), len(x.shape) - 1, len(x.shape) - 2)
        dx = emit("CdistGrad", b.dout, x, y, b.out, p)
        turned = [emit("Transpose", part, order) for part in (b.dout, b.out)]
        return dx, emit("CdistGrad", turned[0], y, x, turned[1], p), None


@operator
class CdistGrad(Operator):
    """dout (..., P, R), x, y, distances, p: the gradient of x. 0 where a distance is 0."""

    name = "CdistGrad"
    tensors = (0, 1, 2, 3)

    def infer(self, call: Call) -> Spec:
        return call.tensor(1).tensor

    def kernel(self, call: Call, dout: Array, x: Array, y: Array, distance: Array, p: float) -> Array:
        apart = _apart(x, y)
        dout, distance = (numerics.wide(a).astype(np.longdouble)[..., None] for a in (dout, distance))
        safe = np.where(distance == 0, 1, distance)
        if p == 0:
            slope = np.zeros_like(apart)
        elif math.isinf(p):
            slope = np.sign(apart) * (np.abs(apart) == distance)
        else:
            slope = np.sign(apart) * (np.abs(apart) / safe) ** (np.longdouble(p) - 1)
        return np.asarray(numerics.total(np.where(distance == 0, 0, slope * dout), -2))
