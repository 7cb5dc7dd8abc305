"""The operators of ``x += y`` and similar: arithmetic whose result replaces its first argument in memory.

The executed graph shows each expanded (``Expand/_InplaceAddExt/Mul`` and ``Add``), then an ``Assign`` of the result
to the argument. The second argument is brought to the dtype of the first.

Source: MindSpore 2.10.0 CPU graphs, measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import OperandError
from harness.framework.ops.base import Backward, Call, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.eager import is_number
from harness.framework.ops.expansion import Composite, cast, scalar
from harness.framework.tensor import call as emit
from harness.graph import Spec


class InplaceArithmetic(Composite):
    """Arguments: tensor that is changed, tensor or number, and for sums and differences a factor of the second.

    Class attributes:
        by: operator that gives the result.
        keeps: the gradient needs the overwritten value, so a copy of it is made.
    """

    tensors = (0,)
    mutates = (0,)
    side_effect = "memory"
    gives_memory = True
    by = ""
    keeps = False

    def infer(self, call: Call) -> Spec:
        target = call.tensor(0)
        other = call.inputs[1]
        shape = getattr(other, "shape", ())
        if -1 not in (*target.shape, *shape) and np.broadcast_shapes(target.shape, shape) != target.shape:
            raise OperandError(
                f"{self.name}: {list(shape)} does not broadcast to {list(target.shape)}, which is changed in place"
            )
        return target.tensor

    def expand(self, x: Any, y: Any, *alpha: Any) -> Any:
        other = scalar(y, x.dtype) if is_number(y) else cast(y, x.dtype)
        if alpha:
            other = emit("Mul", other, scalar(alpha[0], x.dtype))
        return emit(self.by, x, other)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return b.dout, None, None


@operator
class InplaceAddExt(InplaceArithmetic):
    """x += tensor."""

    name = "InplaceAddExt"
    by = "Add"

    def gradient(self, b: Backward) -> Sequence[Any]:
        return b.dout, reduce_to(b.dout, b.inputs[1]) if b.needs[1] else None, None


@operator
class InplaceAddsExt(InplaceArithmetic):
    """x += number."""

    name = "InplaceAddsExt"
    by = "Add"


@operator
class InplaceSubExt(InplaceArithmetic):
    """x -= tensor."""

    name = "InplaceSubExt"
    by = "Sub"

    def gradient(self, b: Backward) -> Sequence[Any]:
        return b.dout, reduce_to(emit("Neg", b.dout), b.inputs[1]) if b.needs[1] else None, None


@operator
class InplaceSubScalar(InplaceArithmetic):
    """x -= number."""

    name = "InplaceSubScalar"
    by = "Sub"


@operator
class InplaceMul(InplaceArithmetic):
    """x *= tensor."""

    name = "InplaceMul"
    by = "Mul"
    keeps = True

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        dx = emit("Mul", cast(y, x.dtype), b.dout) if b.needs[0] else None
        return dx, reduce_to(emit("Mul", x, b.dout), y) if b.needs[1] else None


@operator
class InplaceMuls(InplaceArithmetic):
    """x *= number."""

    name = "InplaceMuls"
    by = "Mul"

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("Muls", b.dout, b.inputs[1]), None


@operator
class InplaceDiv(InplaceArithmetic):
    """x /= tensor."""

    name = "InplaceDiv"
    by = "RealDiv"
    keeps = True

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        over = cast(y, x.dtype)
        dx = emit("Div", b.dout, over) if b.needs[0] else None
        if not b.needs[1]:
            return dx, None
        dy = emit("Mul", emit("Neg", b.dout), emit("Div", emit("Div", x, over), over))
        return dx, reduce_to(dy, y)


@operator
class InplaceDivs(InplaceArithmetic):
    """x /= number."""

    name = "InplaceDivs"
    by = "RealDiv"

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("Divs", b.dout, b.inputs[1]), None


@operator
class InplaceFloorDivide(InplaceArithmetic):
    """x //= tensor."""

    name = "InplaceFloorDivide"
    by = "FloorDiv"

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None


@operator
class InplaceFloorDivides(InplaceArithmetic):
    """x //= number."""

    name = "InplaceFloorDivides"
    by = "FloorDiv"

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None


@operator
class InplaceRemainderTensorTensor(InplaceArithmetic):
    """x %= tensor."""

    name = "InplaceRemainderTensorTensor"
    by = "FloorMod"
    keeps = True

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        dy = emit("Mul", emit("Neg", b.dout), emit("DivMod", x, y, "floor")) if b.needs[1] else None
        return b.dout, reduce_to(dy, y)


@operator
class InplaceRemainderTensorScalar(InplaceArithmetic):
    """x %= number."""

    name = "InplaceRemainderTensorScalar"
    by = "FloorMod"
