"""Softmax and the operators of its backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import KernelError, UnsupportedError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.expansion import Composite
from harness.framework.tensor import call as emit
from harness.framework.tensor import is_eager
from harness.graph import Spec


def plain_softmax(x: Array, axis: int | tuple[int, ...]) -> Array:
    """Softmax by the rules of floating numbers: NaN passes into its whole row."""
    wide = numerics.wide(x).astype(np.longdouble)
    power = np.exp(wide - wide.max(axis=axis, keepdims=True))
    return np.asarray(power / numerics.total(power, axis, keepdims=True))


def shifted_powers(x: Array, axis: int) -> tuple[Array, Array, Array]:
    """``x - max``, its power of e, and the sum of the powers (axis kept), in long double.

    The maximum ignores NaN, and NaN's power is infinite, as in the CPU kernel (measured): a row with NaN gives
    NaN there and 0 elsewhere.
    """
    wide = numerics.wide(x).astype(np.longdouble)
    shifted = wide - np.fmax.reduce(wide, axis=axis, keepdims=True)
    power = np.where(np.isnan(shifted), np.inf, np.exp(shifted))
    return shifted, power, numerics.total(power, axis, keepdims=True)


def check_axis(call: Call, axis: int, rank: int | None = None) -> int:
    """The axis counted from the front, of ``rank`` axes (None: argument 0's); ``ShapeError`` if it is none."""
    if rank is None:
        rank = len(call.shape(0))
    if not -rank <= axis < rank:
        raise call.fail(f"axis {axis} lies outside {-rank}..{rank - 1}")
    return axis % rank


@operator
class Softmax(Operator):
    """e ** x over its sum along the one axis of argument 1."""

    name = "Softmax"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        axes = ints(call, 1)
        if call.dtype(0).kind != "f" or (not axes and is_eager()):
            raise call.fail("a floating tensor and an axis are needed")
        if len(axes) > 1 and is_eager():  # a graph takes any number of axes (measured)
            raise KernelError(f"Softmax: outside of graphs one axis is needed, got {axes}")
        for axis in axes:
            check_axis(call, axis)
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, axes: Any) -> Array:
        if not x.size:
            return x
        if len(ints(call, 1)) != 1:
            return plain_softmax(x, ints(call, 1))
        axis = ints(call, 1)[0]
        if x.dtype != np.float32 or axis % x.ndim != x.ndim - 1:  # another kernel (measured)
            return plain_softmax(x, axis)
        _, power, total = shifted_powers(x, axis)
        return power / total

    def gradient(self, b: Backward) -> Sequence[Any]:
        axes = b.inputs[1]
        if isinstance(axes, tuple) and len(axes) != 1:
            raise UnsupportedError(f"Softmax over {len(axes)} axes has no gradient; one axis is needed")
        return emit("SoftmaxBackward", b.dout, b.out, axes[0] if isinstance(axes, tuple) else axes), None


@operator
class SoftmaxBackward(Composite):
    """out * (dout - sum(out * dout)) along an axis, which is brought to the end first."""

    name = "SoftmaxBackward"
    tensors = (0, 1)

    def expand(self, dout: Any, out: Any, axis: Any) -> Any:
        rank = len(out.shape)
        order = list(range(rank))
        order[axis], order[-1] = order[-1], order[axis]
        turn = order != list(range(rank))
        if turn:
            out, dout = emit("Transpose", out, tuple(order)), emit("Transpose", dout, tuple(order))
        total = emit("Mul", out, dout)
        if out.shape[-1] != 1:  # a sum of one is none (measured)
            total = emit("ReduceSum", total, (-1,), True, False)
        result = emit("Mul", out, emit("Sub", dout, total))
        return emit("Transpose", result, tuple(order)) if turn else result

    def gradient(self, b: Backward) -> Sequence[Any]:
        dout, out, axis = b.inputs
        total = emit("SumExt", emit("Mul", b.dout, out), (axis,), True, None)
        weighted = emit("SumExt", emit("Mul", dout, out), (axis,), True, None)
        ddout = emit("Mul", out, emit("Sub", b.dout, total))
        parts = emit("Mul", b.dout, emit("Sub", dout, weighted))
        return ddout, emit("Sub", parts, emit("Mul", dout, total)), None
