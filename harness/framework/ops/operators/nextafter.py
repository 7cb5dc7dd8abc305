"""NextAfter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import KernelError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.elementwise import Binary
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec


@operator
class NextAfter(Binary):
    """The next number after x on the way to y."""

    name = "NextAfter"
    accepts = "f"

    def infer(self, call: Call) -> Spec:
        spec = super().infer(call)
        if call.dtype(0) not in (dtypes.float32, dtypes.float64):
            raise KernelError("NextAfter takes Float32 and Float64 tensors alone; cast the arguments (ops.cast)")
        return spec

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        # Float32 numbers, too, are moved as float64, and rounded (measured): most of them stay where they are.
        return np.asarray(np.nextafter(numerics.wide(x), numerics.wide(y)))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        zeros = Tensor(np.zeros(tuple(b.dout.shape), y.dtype.numpy), y.dtype)
        return reduce_to(b.dout, x), reduce_to(emit("Mul", zeros, b.dout), y)
