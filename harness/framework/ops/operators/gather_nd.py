"""GatherNd and ScatterNd: slices by coordinates, read and added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import KernelError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.expansion import cast
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def coordinates(name: str, indices: Array, shape: tuple[int, ...]) -> tuple[Array, ...]:
    """The coordinates along the last axis of ``indices`` as a numpy index.

    Raises ``KernelError`` for one outside ``shape``.
    """
    parts = np.moveaxis(indices.astype(np.int64), -1, 0)
    for part, n in zip(parts, shape, strict=False):
        if part.size and not 0 <= int(part.min()) <= int(part.max()) < n:
            raise KernelError(f"{name}: a coordinate lies outside the shape {list(shape)}")
    return tuple(parts)


@operator
class GatherNd(Operator):
    """The slices of x at the coordinates along the last axis of argument 1."""

    name = "GatherNd"
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        x, indices = call.shape(0), call.shape(1)
        if not indices or indices[-1] > len(x) or call.dtype(1).kind not in "iu":
            raise call.fail("the last axis of the indices must hold at most one integer for each axis of x")
        return TensorSpec(call.dtype(0), (*indices[:-1], *x[indices[-1] :]))

    def kernel(self, call: Call, x: Array, indices: Array) -> Array:
        return np.asarray(x[coordinates(self.name, indices, x.shape)])

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, indices = b.inputs
        return emit("ScatterNd", cast(indices, dtypes.int64), b.dout, tuple(x.shape)), None


@operator
class ScatterNd(Operator):
    """Zeros of shape argument 2, with the slices of argument 1 added at the coordinates of argument 0."""

    name = "ScatterNd"
    tensors = (0, 1)
    unread = frozenset({2})

    def infer(self, call: Call) -> Spec:
        indices, updates, shape = call.shape(0), call.shape(1), ints(call, 2)
        if not indices or call.dtype(0).kind not in "iu":
            raise call.fail("the indices must be integers with coordinates along the last axis")
        if indices[-1] > len(shape):
            raise call.fail(f"coordinates of {indices[-1]} axes lie in no shape {list(shape)}")
        if -1 not in (*indices, *updates) and updates != (*indices[:-1], *shape[indices[-1] :]):
            raise call.fail(f"the updates must have shape {[*indices[:-1], *shape[indices[-1] :]]}")
        return TensorSpec(call.dtype(1), shape)

    def kernel(self, call: Call, indices: Array, updates: Array, shape: tuple[int, ...]) -> Array:
        values = updates if updates.dtype.kind in "iu" else numerics.wide(updates)
        out = np.zeros(shape, values.dtype)
        np.add.at(out, coordinates(self.name, indices, out.shape), values)
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, emit("GatherNd", b.dout, b.inputs[0]), None
