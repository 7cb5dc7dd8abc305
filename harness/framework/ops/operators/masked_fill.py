"""MaskedFill: one value where a mask holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import DtypeError
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.eager import number_dtype
from harness.framework.ops.elementwise import broadcast_shapes
from harness.framework.ops.expansion import Composite, cast, scalar
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class MaskedFill(Operator):
    """x, mask, value (0-d): the value where the mask is True, else x; x and mask broadcast."""

    name = "MaskedFill"
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        if call.dtype(1).kind != "b":
            raise DtypeError(f"{self.name}: the mask must be Bool, got {call.dtype(1)}")
        if call.shape(2):
            raise call.fail("the value must have no dimensions")
        return TensorSpec(call.dtype(0), broadcast_shapes(call, call.shape(0), call.shape(1)))

    def kernel(self, call: Call, x: Array, mask: Array, value: Array) -> Array:
        return np.where(mask, value, x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, mask, value = b.inputs
        zero = scalar(0, b.dout.dtype)
        dx = reduce_to(emit(self.name, b.dout, mask, zero), x) if b.needs[0] else None
        dvalue = reduce_to(emit("Select", mask, b.dout, zero), value) if b.needs[2] else None
        return dx, None, dvalue


@operator
class MaskedFillScalar(Composite):
    """MaskedFill with a Python number."""

    name = "MaskedFillScalar"
    tensors = (0, 1)

    def expand(self, x: Any, mask: Any, number: Any) -> Any:
        own = number_dtype(number, [])
        return emit("MaskedFill", x, mask, cast(scalar(number, own), x.dtype))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return reduce_to(emit(self.name, b.dout, b.inputs[1], 0.0), b.inputs[0]), None, None
