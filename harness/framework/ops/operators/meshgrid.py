"""Meshgrid and Diag: vectors laid out over more axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.operators.concat import members
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


@operator
class Meshgrid(Operator):
    """Vectors; 0 for matrix order ("ij"), 1 for the first two axes exchanged ("xy"): each over the whole grid."""

    name = "Meshgrid"

    def infer(self, call: Call) -> Spec:
        items = members(call)
        if any(len(s.shape) != 1 or s.dtype is not items[0].dtype for s in items):
            raise call.fail("vectors of one dtype are needed")
        shape = [s.shape[0] for s in items]
        if ints(call, 1)[0] == 1 and len(shape) > 1:
            shape[:2] = shape[1::-1]
        return TupleSpec((TensorSpec(items[0].dtype, tuple(shape)),) * len(items))

    def kernel(self, call: Call, vectors: tuple[Array, ...], order: Any) -> tuple[Array, ...]:
        return tuple(np.meshgrid(*vectors, indexing="xy" if ints(call, 1)[0] == 1 else "ij"))

    def gradient(self, b: Backward) -> Sequence[Any]:
        vectors, order = b.inputs
        rank = len(vectors)
        own = [1, 0, *range(2, rank)] if order == 1 and rank > 1 else list(range(rank))
        parts = []
        for at, (vector, dout) in enumerate(zip(vectors, b.dout, strict=True)):
            axes = tuple(a for a in range(rank) if a != own[at])
            parts.append(emit("Reshape", emit("SumExt", dout, axes, False, None) if axes else dout, vector.shape))
        return tuple(parts), None


@operator
class Diag(Operator):
    """The elements on the diagonal of zeros of twice the axes."""

    name = "Diag"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        x = call.tensor(0)
        if not x.shape:
            raise call.fail("a tensor with axes is needed")
        return TensorSpec(x.dtype, x.shape * 2)

    def kernel(self, call: Call, x: Array) -> Array:
        return np.diag(x.ravel()).reshape(x.shape * 2)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("DiagPart", b.dout, output_names=("output",), input_names=("input_x",)),)
