"""Padding: a last axis of one element filled up with zeros; PopulationCount: the bits that are set."""

from __future__ import annotations

import numpy as np

from harness import dtypes
from harness.errors import DtypeError
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.graph import Spec, TensorSpec


@operator
class Padding(Operator):
    """x (..., 1): (..., ``pad_dim_size``)."""

    name = "Padding"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        shape = call.shape(0)
        if len(shape) < 2 or shape[-1] != 1:
            raise call.fail("a tensor of at least two dimensions, the last of one element, is needed")
        return TensorSpec(call.dtype(0), (*shape[:-1], call.attrs["pad_dim_size"]))

    def kernel(self, call: Call, x: Array) -> Array:
        out = np.zeros(call.outputs()[0].shape, x.dtype)
        out[..., :1] = x
        return out


@operator
class PopulationCount(Operator):
    """x (whole numbers): UInt8, how many bits are 1."""

    name = "PopulationCount"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        if call.dtype(0).kind not in "iu":
            raise DtypeError(f"PopulationCount takes tensors of whole numbers, got {call.dtype(0)}")
        return TensorSpec(dtypes.uint8, call.shape(0))

    def kernel(self, call: Call, x: Array) -> Array:
        bits = np.ascontiguousarray(x)[..., None].view(np.uint8)
        return np.asarray(np.unpackbits(bits, axis=-1).sum(-1, dtype=np.int64))
