"""Div and RealDiv, and Divs for a tensor over a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness import dtypes
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.elementwise import Binary, as_result
from harness.framework.ops.expansion import Composite, beside, cast
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class Div(Binary):
    """x / y; integers give Float32. Operands may have two dtypes, without a Cast."""

    name = "Div"
    same_dtype = ()

    def infer(self, call: Call) -> Spec:
        spec = super().infer(call)
        assert isinstance(spec, TensorSpec)
        return TensorSpec(dtypes.float32, spec.shape) if spec.dtype.kind in "biu" else spec

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        return numerics.divide(*as_result(call, x, y))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        dx = reduce_to(emit("Div", b.dout, y), x) if b.needs[0] else None
        dy = reduce_to(emit("Mul", emit("Neg", b.dout), emit("Div", b.out, y)), y) if b.needs[1] else None
        return dx, dy


@operator
class RealDiv(Binary):
    """x / y in the operands' own dtype; integers are divided toward zero."""

    name = "RealDiv"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        x, y = as_result(call, x, y)
        if x.dtype.kind in "iub":
            return numerics.divide_toward_zero(x, y)
        return numerics.divide(x, y)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        quotient = emit("RealDiv", b.dout, y)
        dx = reduce_to(quotient, x) if b.needs[0] else None
        dy = reduce_to(emit("Neg", emit("Mul", quotient, b.out)), y) if b.needs[1] else None
        return dx, dy


@operator
class Divs(Composite):
    """x over a Python number; integers give Float32."""

    name = "Divs"
    tensors = (0,)

    def expand(self, x: Any, number: Any) -> Any:
        if x.dtype.kind in "biu":
            x = cast(x, dtypes.float32)
        return emit("Div", *beside(x, number))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return reduce_to(emit("Divs", b.dout, b.inputs[1]), b.inputs[0]), None
