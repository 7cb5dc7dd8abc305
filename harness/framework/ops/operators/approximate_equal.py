"""ApproximateEqual: whether two numbers are nearer than a tolerance."""

from __future__ import annotations

import numpy as np

from harness import dtypes
from harness.errors import OperandError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.graph import Spec, TensorSpec


@operator
class ApproximateEqual(Operator):
    """x and y of one shape: Bool, whether their difference is below the attribute ``tolerance``."""

    name = "ApproximateEqual"
    functional = False
    tensors = (0, 1)
    same_dtype = (0, 1)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0, 1)
        if call.shape(0) != call.shape(1):
            raise OperandError(
                f"ApproximateEqual: two tensors of one shape are needed, got {call.shape(0)}, {call.shape(1)}"
            )
        return TensorSpec(dtypes.bool_, call.shape(0))

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        return np.asarray(np.abs(numerics.wide(x) - numerics.wide(y)) < np.float32(call.attrs["tolerance"]))
