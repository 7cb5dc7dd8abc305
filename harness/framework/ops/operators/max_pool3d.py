"""MaxPool3D (NCDHW) and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from harness.errors import UnsupportedError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.volume import places, spread
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def _padded(call: Call, x: Array) -> Array:
    pads = call.attrs["pad_list"]
    around = [(0, 0), (0, 0), *zip(pads[::2], pads[1::2], strict=True)]
    return np.pad(numerics.wide(x), around, constant_values=-np.inf)


@operator
class MaxPool3D(Operator):
    """Largest value of each window; padding never wins."""

    name = "MaxPool3D"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        shape = call.shape(0)
        if call.attrs["ceil_mode"]:
            raise UnsupportedError(f"{self.name} is supported without ceil_mode")
        if len(shape) != 5:
            raise call.fail("the input must be (n, c, d, h, w)")
        out = places(shape[2:], call.attrs["kernel_size"][2:], call.attrs["strides"][2:], call.attrs["pad_list"])
        if min(out) < 1:
            raise call.fail(f"a window of {list(call.attrs['kernel_size'][2:])} does not fit into {list(shape[2:])}")
        return TensorSpec(call.dtype(0), (*shape[:2], *out))

    def kernel(self, call: Call, x: Array) -> Array:
        padded, out = _padded(call, x), call.outputs()[0].shape[2:]
        best = np.full(call.outputs()[0].shape, -np.inf)
        for at in product(*map(range, call.attrs["kernel_size"][2:])):
            best = np.maximum(best, padded[spread(at, out, call.attrs["strides"][2:])])
        return best

    def gradient(self, b: Backward) -> Sequence[Any]:
        names = {"input_names": ("x_origin", "out_origin", "grad"), "output_names": ("output",)}
        attrs = {name: names.get(name, value) for name, value in b.attrs.items()}
        return (emit("MaxPool3DGrad", b.inputs[0], b.out, b.dout, **attrs),)


@operator
class MaxPool3DGrad(Operator):
    """dout put where each window's first maximum was; overlaps add up."""

    name = "MaxPool3DGrad"
    functional = False

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, out: Array, dout: Array) -> Array:
        padded = _padded(call, x)
        result, left = np.zeros(padded.shape), np.ones(out.shape, bool)
        for at in product(*map(range, call.attrs["kernel_size"][2:])):
            where = spread(at, out.shape[2:], call.attrs["strides"][2:])
            hit = left & (padded[where] == numerics.wide(out))
            result[where] += np.where(hit, numerics.wide(dout), 0)
            left &= ~hit
        pads = call.attrs["pad_list"]
        inner = tuple(slice(p, p + n) for p, n in zip(pads[::2], x.shape[2:], strict=True))
        return result[(slice(None), slice(None), *inner)]
