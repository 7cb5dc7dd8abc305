"""Unique: each value once, in the order of first occurrence, and the place of each element's value."""

from __future__ import annotations

import numpy as np

from harness import dtypes
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.graph import Spec, TensorSpec, TupleSpec


@operator
class Unique(Operator):
    """x (n,): its values (their number is known when it runs; each NaN is one of its own), and (n,) Int32 (Int64 of
    Int64): the place of each."""

    name = "Unique"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        if len(call.shape(0)) != 1:
            raise call.fail("a tensor of one axis is needed")
        index = dtypes.int64 if call.dtype(0) is dtypes.int64 else dtypes.int32
        return TupleSpec((TensorSpec(call.dtype(0), (-1,)), TensorSpec(index, call.shape(0))))

    def kernel(self, call: Call, x: Array) -> tuple[Array, Array]:
        _, first, inverse = np.unique(x, return_index=True, return_inverse=True, equal_nan=False)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return x[first[order]], rank[inverse.reshape(-1)]
