"""GatherD: elements along one axis, each by its own index; and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import KernelError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def places(index: Array, axis: int, length: int) -> tuple[Array, ...]:
    """The numpy index of the elements meant: every axis its own position, ``axis`` the values of ``index``.

    Negative values count from behind. Raises ``KernelError`` for one outside ``length``.
    """
    axis %= index.ndim
    if index.size and not -length <= int(index.min()) <= int(index.max()) < length:
        raise KernelError(f"an index lies outside {-length}..{length - 1}")
    grid: list[Array] = list(np.ogrid[tuple(slice(0, n) for n in index.shape)])
    grid[axis] = index.astype(np.int64)
    return tuple(grid)


@operator
class GatherD(Operator):
    """x, axis, index: element ``x[..., index[i], ...]`` for each element of index."""

    name = "GatherD"
    tensors = (0, 2)

    def infer(self, call: Call) -> Spec:
        x, (axis,), index = call.shape(0), ints(call, 1), call.shape(2)
        check_index(call, x, axis, index, call.dtype(2).kind)
        return TensorSpec(call.dtype(0), index)

    def kernel(self, call: Call, x: Array, axis: int, index: Array) -> Array:
        return np.asarray(x[places(index, axis, x.shape[axis])])

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, axis, index = b.inputs
        return emit("GatherDGradV2", x, axis, index, b.dout), None, None


def check_index(call: Call, x: tuple[int, ...], axis: int, index: tuple[int, ...], kind: str) -> None:
    """``ShapeError`` unless the index has integers, x's rank, and fits beside the axis."""
    if kind not in "iu" or len(index) != len(x) or not -len(x) <= axis < len(x):
        raise call.fail("the index must be integers of the same rank, and the axis one of its axes")
    if any(n > m for a, (n, m) in enumerate(zip(index, x, strict=True)) if a != axis % len(x) and -1 not in (n, m)):
        raise call.fail("the index must not be longer than x along any axis but the given one")


@operator
class GatherDGradV2(Operator):
    """x, axis, index, dout: zeros like x with dout added where each element came from."""

    name = "GatherDGradV2"
    tensors = (0, 2, 3)

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(3), call.shape(0))

    def kernel(self, call: Call, x: Array, axis: int, index: Array, dout: Array) -> Array:
        values = numerics.wide(dout)
        out = np.zeros(x.shape, values.dtype)
        np.add.at(out, places(index, axis, x.shape[axis]), values)
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None, None, emit("GatherD", b.dout, b.inputs[1], b.inputs[2])
