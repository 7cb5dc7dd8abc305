"""MaskedSelect: the elements where a mask holds; and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import DtypeError, KernelError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import broadcast_shapes
from harness.framework.tensor import call as emit
from harness.framework.tensor import is_eager
from harness.graph import Spec, TensorSpec


@operator
class MaskedSelect(Operator):
    """x and mask, which broadcast: the elements where the mask is True, in order; their number is known when it
    runs."""

    name = "MaskedSelect"
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        if call.dtype(1).kind != "b":
            raise (KernelError if is_eager() else DtypeError)(
                f"{self.name}: the mask must be Bool, got {call.dtype(1)}"
            )
        broadcast_shapes(call, call.shape(0), call.shape(1))
        return TensorSpec(call.dtype(0), (-1,))

    def kernel(self, call: Call, x: Array, mask: Array) -> Array:
        values, where = np.broadcast_arrays(x, mask)
        return np.asarray(values[where])

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, mask = b.inputs
        return emit("MaskedSelectGrad", x, mask, b.dout), None


@operator
class MaskedSelectGrad(Operator):
    """x, mask, dout: each element of dout where it was taken from."""

    name = "MaskedSelectGrad"
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, mask: Array, dout: Array) -> Array:
        shape = np.broadcast_shapes(x.shape, mask.shape)
        places = np.broadcast_to(np.arange(x.size).reshape(x.shape), shape)[np.broadcast_to(mask, shape)]
        out = np.zeros(x.size)
        np.add.at(out, places, numerics.wide(dout))
        return out.reshape(x.shape)
