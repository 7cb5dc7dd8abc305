"""MatrixBandPart, MatrixDiagV3, MatrixDiagPartV3, FillDiagonal, TrilIndices and TriuIndices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import UnsupportedError
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.expansion import scalar
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class MatrixBandPart(Operator):
    """Matrices, and how many diagonals below and above the main one are kept (below 0: all)."""

    name = "MatrixBandPart"
    functional = False
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        if len(call.shape(0)) < 2:
            raise call.fail("matrices are needed")
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, lower: Array, upper: Array) -> Array:
        apart = np.arange(x.shape[-2])[:, None] - np.arange(x.shape[-1])
        below, above = (int(np.asarray(v).reshape(())) for v in (lower, upper))
        kept = ((below < 0) | (apart <= below)) & ((above < 0) | (-apart <= above))
        return np.where(kept, x, np.zeros((), x.dtype))

    def gradient(self, b: Backward) -> Sequence[Any]:
        _x, lower, upper = b.inputs
        return emit(self.name, b.dout, lower, upper, output_names=("y",), input_names=("x",)), None, None


def _one(call: Call, index: int) -> int:
    found = ints(call, index)
    if len(found) != 1:
        raise UnsupportedError(f"{call.op} is supported for one diagonal, got {len(found)}")
    return found[0]


@operator
class MatrixDiagV3(Operator):
    """Diagonals (..., n), their number, rows and columns (-1: as few as possible), and what stands elsewhere."""

    name = "MatrixDiagV3"
    functional = False
    tensors = (0, 1, 2, 3, 4)

    def infer(self, call: Call) -> Spec:
        k, rows, columns = (_one(call, at) for at in (1, 2, 3))
        if not call.shape(0):
            raise call.fail("a tensor with a last axis is needed")
        *lead, count = call.shape(0)
        shape = [count - min(k, 0) if rows < 0 else rows, count + max(k, 0) if columns < 0 else columns]
        if rows < 0 and columns < 0:
            shape = [max(shape)] * 2
        if min(shape[0] + min(k, 0), shape[1] - max(k, 0)) != count:
            raise call.fail(f"{count} elements do not fill diagonal {k} of a matrix of {shape}")
        return TensorSpec(call.dtype(0), (*lead, *shape))

    def kernel(self, call: Call, x: Array, k: Array, _rows: Array, _columns: Array, padding: Array) -> Array:
        out = np.full(call.outputs()[0].shape, padding.reshape(()), x.dtype)
        offset, at = int(np.asarray(k).reshape(())), np.arange(x.shape[-1])
        out[..., at - min(offset, 0), at + max(offset, 0)] = x
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        dx = emit("MatrixDiagPartV3", b.dout, b.inputs[1], scalar(0, b.dout.dtype), **part_names(b.attrs["align"]))
        return dx, None, None, None, None


def part_names(align: str) -> dict[str, Any]:
    """Attributes of MatrixDiagPartV3 in a gradient."""
    return {
        "output_names": ("y",), "input_names": ("x", "k", "padding_value"), "max_length": 200000000, "align": align,
    }  # fmt: skip


@operator
class MatrixDiagPartV3(Operator):
    """Matrices, the number of a diagonal, and a number that fills short ones of several."""

    name = "MatrixDiagPartV3"
    functional = False
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        if len(call.shape(0)) < 2:
            raise call.fail("matrices are needed")
        *lead, rows, columns = call.shape(0)
        k = _one(call, 1)
        count = min(rows + min(k, 0), columns - max(k, 0))
        if count < 1:
            raise call.fail(f"a matrix of {rows} rows and {columns} columns has no diagonal {k}")
        return TensorSpec(call.dtype(0), (*lead, count))

    def kernel(self, call: Call, x: Array, k: Array, _padding: Array) -> Array:
        return np.diagonal(x, int(np.asarray(k).reshape(())), -2, -1)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, k, _padding = b.inputs
        sides = (scalar(n, dtypes.int32) for n in x.shape[-2:])
        names = {"output_names": ("y",), "input_names": ("x", "k", "num_rows", "num_cols", "padding_value")}
        dx = emit("MatrixDiagV3", b.dout, k, *sides, scalar(0, x.dtype), **names, align=b.attrs["align"])  # type: ignore[arg-type]
        return dx, None, None


@operator
class FillDiagonal(Operator):
    """Attributes ``fill_value`` and ``wrap`` (begin anew below a tall matrix's last row)."""

    name = "FillDiagonal"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        shape = call.shape(0)
        if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
            raise call.fail("a matrix, or a tensor whose axes have one length, is needed")
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array) -> Array:
        out = x.copy()
        np.fill_diagonal(out, np.asarray(call.attrs["fill_value"]).astype(x.dtype), bool(call.attrs["wrap"]))
        return out


class _Indices(Operator):
    """Attributes ``row``, ``col``, ``offset`` and ``dtype``: places of a triangle (2, n)."""

    functional = False

    def found(self, call: Call) -> Array:
        """The places, Int64."""
        raise NotImplementedError

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.attrs["dtype"], self.found(call).shape)

    def kernel(self, call: Call) -> Array:
        return self.found(call)


@operator
class TrilIndices(_Indices):
    """On and below a diagonal."""

    name = "TrilIndices"

    def found(self, call: Call) -> Array:
        return np.stack(np.tril_indices(call.attrs["row"], call.attrs["offset"], call.attrs["col"]))


@operator
class TriuIndices(_Indices):
    """On and above a diagonal."""

    name = "TriuIndices"

    def found(self, call: Call) -> Array:
        return np.stack(np.triu_indices(call.attrs["row"], call.attrs["offset"], call.attrs["col"]))
