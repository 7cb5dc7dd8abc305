"""Select: elements of one tensor or the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.elementwise import broadcast_shapes, check_kind
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class Select(Operator):
    """Where argument 0 holds, argument 1, else argument 2; all three broadcast."""

    name = "Select"
    tensors = (0, 1, 2)
    same_dtype = (1, 2)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "b", 0)
        if call.dtype(1) is not call.dtype(2):
            raise call.fail("both choices must have one dtype")
        return TensorSpec(call.dtype(1), broadcast_shapes(call, *(call.shape(i) for i in range(3))))

    def kernel(self, call: Call, condition: Array, x: Array, y: Array) -> Array:
        return np.where(condition, x, y)

    def gradient(self, b: Backward) -> Sequence[Any]:
        condition, x, y = b.inputs
        zeros = emit("ZerosLikeExt", b.dout, None)
        dx = reduce_to(emit("Select", condition, b.dout, zeros), x) if b.needs[1] else None
        dy = reduce_to(emit("Select", condition, zeros, b.dout), y) if b.needs[2] else None
        return None, dx, dy
