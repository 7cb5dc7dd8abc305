"""Diagonal, MatrixSetDiagV3, and the traces: Trace and TraceV2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import OperandError, ShapeError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.expansion import scalar
from harness.framework.ops.operators.bands import part_names, set_bands
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def _matrix_axes(call: Call, first: int, second: int) -> tuple[int, int]:
    """The two axes from 0; ``ShapeError`` unless they are two of the tensor's."""
    rank = len(call.shape(0))
    if rank < 2 or not all(-rank <= a < rank for a in (first, second)) or first % rank == second % rank:
        raise call.fail(f"two different axes of the tensor are needed, got {first} and {second}")
    return first % rank, second % rank


def _sum(diagonals: Array) -> Array:
    """The sums along the last axis, in an order that no version of numpy changes."""
    whole = diagonals.dtype.kind in "biu"
    return np.asarray(diagonals.sum(-1) if whole else numerics.total(numerics.wide(diagonals), -1))


@operator
class Diagonal(Operator):
    """x, offset, two axes: their diagonal, as the last axis."""

    name = "Diagonal"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        offset, first, second = (ints(call, at)[0] for at in (1, 2, 3))
        axes = _matrix_axes(call, first, second)
        shape = call.shape(0)
        length = max(0, min(shape[axes[0]] + min(offset, 0), shape[axes[1]] - max(offset, 0)))
        return TensorSpec(call.dtype(0), (*(n for a, n in enumerate(shape) if a not in axes), length))

    def kernel(self, call: Call, x: Array, offset: int, first: int, second: int) -> Array:
        return np.diagonal(x, offset, first, second)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, offset, first, second = b.inputs
        rank = len(x.shape)
        order = [a for a in range(rank) if a not in (first % rank, second % rank)] + [first % rank, second % rank]
        shape = tuple(x.shape[a] for a in order)
        names: dict[str, Any] = {"output_names": ("y",), "input_names": ("shape", "value")}
        zeros = emit("FillV2", shape, scalar(0, x.dtype), **names)
        attrs: dict[str, Any] = {
            "output_names": ("y",), "input_names": ("x", "diagonal", "k"), "max_length": 200000000,
            "align": "LEFT_RIGHT",
        }  # fmt: skip
        dx = emit("MatrixSetDiagV3", zeros, b.dout, Tensor(np.asarray(offset, np.int32)), **attrs)
        still = order == list(range(rank))
        return dx if still else emit("Transpose", dx, tuple(order.index(a) for a in range(rank))), None, None, None


@operator
class MatrixSetDiagV3(Operator):
    """Matrices, what their diagonal number argument 2 becomes, or their bands, and that number, or the lowest and the
    highest."""

    name = "MatrixSetDiagV3"
    functional = False
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, diagonal: Array, k: Array) -> Array:
        out = x.copy()
        set_bands(out, diagonal, k, call.attrs["align"])
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        _x, diagonal, k = b.inputs
        attrs: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in b.attrs.items()}
        none = Tensor(np.zeros(tuple(diagonal.shape), diagonal.dtype.numpy), diagonal.dtype)
        dx = emit(self.name, b.dout, none, k, **attrs) if b.needs[0] else None
        part = emit("MatrixDiagPartV3", b.dout, k, scalar(0, b.dout.dtype), **part_names(b.attrs["align"]))
        return dx, part, None


@operator
class Trace(Operator):
    """The sum of a matrix's diagonal."""

    name = "Trace"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        if len(call.shape(0)) != 2:
            raise call.fail("a matrix is needed")
        return TensorSpec(call.dtype(0), ())

    def kernel(self, call: Call, x: Array) -> Array:
        return _sum(np.diagonal(x)).astype(x.dtype)

    def gradient(self, b: Backward) -> Sequence[Any]:
        shape = Tensor(np.asarray(b.inputs[0].shape, np.int64))
        return (emit("TraceGrad", b.dout, shape),)


@operator
class TraceGrad(Operator):
    """dout and the matrix's shape: dout on the diagonal of zeros."""

    name = "TraceGrad"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(0), ints(call, 1))

    def kernel(self, call: Call, dout: Array, *_given: Any) -> Array:
        out = np.zeros(call.outputs()[0].shape, dout.dtype)
        np.fill_diagonal(out, dout.reshape(()))
        return out


@operator
class TraceV2(Operator):
    """x, offset, two axes, dtype (None for its own): the sums of diagonals; the numbers are 0-d constants."""

    name = "TraceV2"
    tensors = (0, 1, 2, 3)

    def infer(self, call: Call) -> Spec:
        try:
            axes = _matrix_axes(call, ints(call, 2)[0], ints(call, 3)[0])
        except ShapeError as error:
            raise OperandError(str(error)) from None
        dtype = call.values[4] if len(call.values) > 4 and call.values[4] is not None else call.dtype(0)
        return TensorSpec(dtype, tuple(n for a, n in enumerate(call.shape(0)) if a not in axes))

    def kernel(self, call: Call, x: Array, *given: Any) -> Array:
        offset, first, second = (int(np.asarray(g).reshape(())) for g in given[:3])
        return _sum(np.diagonal(x, offset, first, second))

    def gradient(self, b: Backward) -> Sequence[Any]:
        shape = Tensor(np.asarray(b.inputs[0].shape, np.int64))
        return emit("TraceV2Grad", b.dout, shape, *b.inputs[1:4]), None, None, None, None


@operator
class TraceV2Grad(Operator):
    """dout, the shape, offset, two axes: dout on the diagonals of zeros."""

    name = "TraceV2Grad"
    tensors = (0, 1, 2, 3, 4)

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(0), ints(call, 1))

    def kernel(self, call: Call, dout: Array, *given: Any) -> Array:
        offset, first, second = (int(np.asarray(g).reshape(())) for g in given[1:4])
        out = np.zeros(call.outputs()[0].shape, dout.dtype)
        matrices = np.moveaxis(out, (first, second), (-2, -1))
        at = np.arange(max(0, min(matrices.shape[-2] + min(offset, 0), matrices.shape[-1] - max(offset, 0))))
        matrices[..., at - min(offset, 0), at + max(offset, 0)] = dout[..., None]
        return out
