"""ListDiff: the elements of one list that another lacks."""

from __future__ import annotations

import numpy as np

from harness.errors import DtypeError
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.graph import Spec, TensorSpec, TupleSpec


@operator
class ListDiff(Operator):
    """x (n,), y (m,): the elements of x that are not in y, and their places. Attribute ``out_idx``: their dtype."""

    name = "ListDiff"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        if call.dtype(0) is not call.dtype(1):
            raise DtypeError(f"ListDiff takes two tensors of one dtype, got {call.dtype(0)} and {call.dtype(1)}")
        if len(call.shape(0)) != 1 or len(call.shape(1)) != 1:
            raise call.fail("two tensors of one axis are needed")
        return TupleSpec((TensorSpec(call.dtype(0), (-1,)), TensorSpec(call.attrs["out_idx"], (-1,))))

    def kernel(self, call: Call, x: Array, y: Array) -> tuple[Array, Array]:
        found = np.flatnonzero(~np.isin(x, y))
        return x[found], found
