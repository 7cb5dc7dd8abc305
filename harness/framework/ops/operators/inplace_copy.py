"""InplaceCopy: a tensor's values replaced by another's, cast and broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import KernelError
from harness.framework.ops.base import OPERATORS, Array, Backward, Call, Operator, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.tensor import Tensor
from harness.graph import Spec


@operator
class InplaceCopy(Operator):
    """Arguments: tensor that is changed, tensor, whether not to wait (which changes nothing)."""

    name = "InplaceCopy"
    tensors = (0, 1)
    mutates = (0,)
    side_effect = "memory"
    gives_memory = True

    def infer(self, call: Call) -> Spec:
        target, value = call.shape(0), call.shape(1)
        if -1 not in (*target, *value) and np.broadcast_shapes(target, value) != target:
            raise KernelError(f"InplaceCopy: {list(value)} does not broadcast to {list(target)}, which is changed")
        return call.tensor(0)

    def kernel(self, call: Call, target: Array, value: Array, _non_blocking: bool) -> Array:
        cast = OPERATORS.get("Cast")
        dtype = call.dtype(0)
        target[...] = cast.kernel(Call("Cast", call.inputs[1:2], (None, dtype), {}, call.tensor(0)), value, dtype)
        return target

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, value, _ = b.inputs
        zeros = Tensor(np.zeros(tuple(x.shape), x.dtype.numpy)) if b.needs[0] else None
        return zeros, reduce_to(b.dout, value) if b.needs[1] else None, None
