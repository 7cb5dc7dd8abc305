"""Scatter, ScatterValue and IndexFill: elements along one axis replaced; TensorScatterAdd and TensorScatterSub."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.expansion import Composite, scalar
from harness.framework.ops.operators.gather_d import check_index, places
from harness.framework.ops.operators.gather_nd import coordinates
from harness.framework.ops.operators.scatter import TensorScatterUpdate
from harness.framework.tensor import call as emit
from harness.graph import Spec


@operator
class Scatter(Operator):
    """x, axis, index, updates, reduction (0: none): the elements of x at the indices replaced."""

    name = "Scatter"
    tensors = (0, 2, 3)

    def infer(self, call: Call) -> Spec:
        (axis,) = ints(call, 1)
        check_index(call, call.shape(0), axis, call.shape(2), call.dtype(2).kind)
        if call.shape(2) != call.shape(3):
            raise call.fail("index and updates must have one shape")
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, axis: int, index: Array, updates: Array, _how: int) -> Array:
        out = x.copy()
        out[places(index, axis, x.shape[axis])] = updates
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        _x, axis, index, _updates, how = b.inputs
        dx = emit("ScatterValue", b.dout, axis, index, 0.0, how) if b.needs[0] else None
        return dx, None, None, emit("GatherD", b.dout, axis, index) if b.needs[3] else None, None


@operator
class ScatterValue(Operator):
    """x, axis, index, a number, reduction (0: none): the elements of x at the indices become the number."""

    name = "ScatterValue"
    tensors = (0, 2)

    def infer(self, call: Call) -> Spec:
        check_index(call, call.shape(0), ints(call, 1)[0], call.shape(2), call.dtype(2).kind)
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, axis: int, index: Array, value: float, _how: int) -> Array:
        out = x.copy()
        out[places(index, axis, x.shape[axis])] = value
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        _x, axis, index, _value, how = b.inputs
        return emit("ScatterValue", b.dout, axis, index, 0.0, how), None, None, None, None


#: attributes of IndexFill
FILL: dict[str, Any] = {"output_names": ["y"], "input_names": ["x", "dim", "index", "value"]}


@operator
class IndexFill(Operator):
    """x, axis, positions along it, a number; the two numbers are 0-d constants."""

    name = "IndexFill"
    functional = False
    tensors = (0, 1, 2, 3)

    def infer(self, call: Call) -> Spec:
        rank, (axis,) = len(call.shape(0)), ints(call, 1)
        if not -rank <= axis < rank or len(call.shape(2)) > 1:
            raise call.fail(f"axis {axis} must be one of {rank}, and the positions have one axis at most")
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, axis: Array, index: Array, value: Array) -> Array:
        out = x.copy()
        np.moveaxis(out, int(np.asarray(axis).reshape(())), 0)[index.reshape(-1)] = value.reshape(())
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        _x, axis, index, _value = b.inputs
        names: dict[str, Any] = {name: tuple(value) for name, value in FILL.items()}
        dx = emit("IndexFill", b.dout, axis, index, scalar(0, b.dout.dtype), **names)
        return dx, None, None, None


class Changed(TensorScatterUpdate):
    """Slices at the coordinates of argument 1 changed by the updates, one after the other."""

    #: what a slice becomes, of its old value and an update
    change: ClassVar[Any]

    def kernel(self, call: Call, x: Array, indices: Array, updates: Array) -> Array:
        out = x.copy() if x.dtype.kind in "iu" else numerics.wide(x).copy()
        rows = indices.reshape(-1, indices.shape[-1])
        for at, value in zip(rows, updates.reshape(len(rows), *x.shape[indices.shape[-1] :]), strict=True):
            place = coordinates(self.name, at, x.shape)
            out[place] = type(self).change(out[place], value.astype(out.dtype))
        return out


@operator
class TensorScatterAdd(Changed):
    """x with the updates added to the slices at the coordinates of argument 1."""

    name = "TensorScatterAdd"
    functional = True
    change = staticmethod(np.add)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return b.dout, None, emit("GatherNdExt", b.dout, b.inputs[1]) if b.needs[2] else None


@operator
class TensorScatterSub(Changed):
    """x with the updates taken from the slices at the coordinates of argument 1."""

    name = "TensorScatterSub"
    change = staticmethod(np.subtract)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return b.dout, None, emit("Neg", emit("GatherNd", b.dout, b.inputs[1])) if b.needs[2] else None


@operator
class GatherNdExt(Composite):
    """``GatherNd``, as the gradient of TensorScatterAdd has it."""

    name = "GatherNdExt"
    tensors = (0, 1)

    def expand(self, x: Any, indices: Any) -> Any:
        return emit("GatherNd", x, indices)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, indices = b.inputs
        return emit("ScatterNd", indices, b.dout, tuple(x.shape)), None
