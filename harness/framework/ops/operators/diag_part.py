"""DiagPart: the diagonal of a square of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class DiagPart(Operator):
    """x (*s, *s): the elements whose first half of coordinates is the second, of shape s."""

    name = "DiagPart"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        shape = call.shape(0)
        half = len(shape) // 2
        if not shape or len(shape) % 2 or shape[:half] != shape[half:]:
            raise call.fail("an even number of axes is needed, the first half as long as the second")
        return TensorSpec(call.dtype(0), shape[:half])

    def kernel(self, call: Call, x: Array) -> Array:
        shape = call.outputs()[0].shape
        n = int(np.prod(shape))
        return np.diagonal(x.reshape(n, n)).reshape(shape)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Diag", b.dout),)
