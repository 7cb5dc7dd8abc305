"""AddN: the sum of several tensors of one shape and dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import as_result
from harness.graph import Spec, TensorSpec, TupleSpec


@operator
class AddN(Operator):
    """Argument 0 (a tuple of tensors), added from left to right."""

    name = "AddN"

    def infer(self, call: Call) -> Spec:
        spec = call.inputs[0]
        items = spec.items if isinstance(spec, TupleSpec) else ()
        first = items[0] if items else None
        if not isinstance(first, TensorSpec):
            raise call.fail("a tuple of at least one tensor is needed")
        for item in items:
            if not isinstance(item, TensorSpec) or item.shape != first.shape or item.dtype is not first.dtype:
                raise call.fail("all tensors must have one shape and one dtype")
        return first.tensor

    def kernel(self, call: Call, tensors: tuple[Array, ...]) -> Array:
        total, *rest = as_result(call, *tensors)
        for x in rest:
            total = total + x
        return total

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (tuple(b.dout for _ in b.inputs[0]),)
