"""Split: equal pieces along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


@operator
class Split(Operator):
    """``x`` in argument 2 equal pieces along axis argument 1."""

    name = "Split"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        x, (axis,), (count,) = call.tensor(0), ints(call, 1), ints(call, 2)
        rank = len(x.shape)
        if not -rank <= axis < rank:
            raise call.fail(f"axis {axis} lies outside {-rank}..{rank - 1}")
        length = x.shape[axis]
        if count < 1 or (length != -1 and length % count):
            raise call.fail(f"axis {axis} of length {length} cannot be cut into {count} equal pieces")
        shape = list(x.shape)
        shape[axis % rank] = -1 if length == -1 else length // count
        return TupleSpec((TensorSpec(x.dtype, tuple(shape)),) * count)

    def kernel(self, call: Call, x: Array, axis: int, count: int) -> tuple[Array, ...]:
        return tuple(np.split(x, count, axis))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("Concat", tuple(b.dout), b.inputs[1]), None, None
