"""MatMulExt: ``@`` for operands of any rank, and Dense: a matrix given transposed, and a bias."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from harness.errors import DtypeError, OperandError, ShapeError
from harness.framework.ops.base import Backward, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.expansion import Composite
from harness.framework.tensor import call as emit


@operator
class MatMulExt(Composite):
    """``x @ w``: vectors count as matrices of one row or column, leading axes broadcast."""

    name = "MatMulExt"
    tensors = (0, 1)

    def expand(self, x: Any, w: Any) -> Any:
        shape = product_shape(x, w)
        vector = len(w.shape) == 1
        left = emit("Reshape", x, (1, x.shape[0])) if len(x.shape) == 1 else x
        right = emit("Reshape", w, (1, w.shape[0])) if vector else w
        if len(left.shape) == len(right.shape) == 2:
            out = emit("MatMul", left, right, False, vector)
        else:
            lead = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
            out = emit("BatchMatMul", _stretched(left, lead), _stretched(right, lead), False, vector)
        return emit("Reshape", out, shape) if tuple(out.shape) != shape else out

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, w, dout = b.inputs[0], b.inputs[1], b.dout
        vector_x, vector_w = len(x.shape) == 1, len(w.shape) == 1
        if vector_w:
            dout = emit("ExpandDims", dout, -1)
        if vector_x:
            dout = emit("ExpandDims", dout, -2)
        dx = dw = None
        if b.needs[0]:
            right = emit("ExpandDims", w, -1) if vector_w else w
            dx = _shaped(_left(dout, right, vector_x or _is_matrix(x)), x, dout)
        if b.needs[1]:
            left = emit("ExpandDims", x, 0) if vector_x else x
            dw = _shaped(_right(left, dout, vector_w or _is_matrix(w)), w, dout)
        return dx, dw


def product_shape(x: Any, w: Any) -> tuple[int, ...]:
    """Shape of ``x @ w``; ``ShapeError`` or ``DtypeError`` if there is none."""
    a, b = tuple(x.shape), tuple(w.shape)
    given = f"{x.dtype}{list(a)} and {w.dtype}{list(b)}"
    if x.dtype is not w.dtype:
        raise DtypeError(f"matmul: both operands must have one dtype, got {given}")
    if not a or not b or a[-1] != b[-2 if len(b) > 1 else 0]:
        raise OperandError(f"matmul: inner dimensions of {given} differ")
    try:
        lead = np.broadcast_shapes(a[:-2], b[:-2])
    except ValueError:
        raise ShapeError(f"matmul: leading axes of {given} do not broadcast") from None
    return (*lead, *a[:-1][-1:], *(b[-1:] if len(b) > 1 else ()))


def _stretched(x: Any, lead: tuple[int, ...]) -> Any:
    shape = (*lead, *x.shape[-2:])
    return x if tuple(x.shape) == shape else emit("BroadcastTo", x, shape)


def _swapped(x: Any, first: int, second: int) -> Any:
    """Two axes exchanged: by Reshape where one of them has length 1 and nothing between moves, else by Transpose."""
    order = list(range(len(x.shape)))
    order[first], order[second] = order[second], order[first]
    shape = tuple(x.shape[a] for a in order)
    if 1 in (x.shape[first], x.shape[second]) and abs(order[first] - order[second]) == 1:
        return emit("Reshape", x, shape)
    return emit("Transpose", x, tuple(order))


def _is_matrix(x: Any) -> bool:
    """Whether a tensor is one matrix, with leading axes of one element or none (measured)."""
    return bool(prod(x.shape[:-2]) == 1)


def _left(dout: Any, w: Any, is_matrix: bool) -> Any:
    """Gradient of the left operand (before sums over stretched axes); folded into one matrix product if it is one."""
    if is_matrix and len(w.shape) > 2:
        rows = _rows_first(dout)
        rows = emit("Reshape", rows, (rows.shape[0], -1))
        turned = _swapped(w, len(w.shape) - 2, len(w.shape) - 1)
        return emit("MatMulExt", rows, emit("Reshape", turned, (-1, turned.shape[-1])))
    return emit("MatMulExt", dout, _swapped(w, len(w.shape) - 2, len(w.shape) - 1))


def _rows_first(dout: Any) -> Any:
    rank = len(dout.shape)
    return emit("Transpose", dout, (rank - 2, *range(rank - 2), rank - 1))


def _right(x: Any, dout: Any, is_matrix: bool) -> Any:
    """Gradient of the right operand (before sums over stretched axes); folded likewise."""
    if is_matrix and len(x.shape) > 2:
        turned = _swapped(emit("Reshape", x, (-1, x.shape[-1])), 0, 1)
        return emit("MatMulExt", turned, emit("Reshape", dout, (-1, dout.shape[-1])))
    return emit("MatMulExt", _swapped(x, len(x.shape) - 2, len(x.shape) - 1), dout)


def _shaped(gradient: Any, operand: Any, dout: Any) -> Any:
    """Summed over stretched axes; a matrix becomes the vector, or gets the leading axes, that the operand has. The sum
    over an axis that was stretched is there even where the product of matrices took it (measured)."""
    if len(operand.shape) == 1:
        return emit("Reshape", gradient, operand.shape)
    if len(gradient.shape) >= len(operand.shape):
        return reduce_to(gradient, operand)
    gradient = emit("Reshape", gradient, operand.shape)
    lead = zip(dout.shape[-len(operand.shape) : -2], operand.shape[:-2], strict=False)
    axes = tuple(at for at, (whole, own) in enumerate(lead) if whole != own)
    return emit("SumExt", gradient, axes, True, None) if axes else gradient


@operator
class Dense(Composite):
    """x (..., k), weight (n, k), bias (n,) or None: ``x @ weight.T + bias``."""

    name = "Dense"
    tensors = (0, 1)

    def expand(self, x: Any, weight: Any, bias: Any) -> Any:
        if len(weight.shape) != 2 or not x.shape or x.shape[-1] != weight.shape[1]:
            raise ShapeError(f"dense: {list(x.shape)} and weight {list(weight.shape)} do not fit")
        flat = x if len(x.shape) == 2 else emit("Reshape", x, (-1, x.shape[-1]))
        out = emit("MatMul", flat, weight, False, True)
        out = out if bias is None else emit("Add", out, bias)
        return out if len(x.shape) == 2 else emit("Reshape", out, (*x.shape[:-1], weight.shape[0]))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, weight, bias = b.inputs
        dout, flat = b.dout, len(x.shape) == 2
        rows, k, n = prod(x.shape[:-1]), x.shape[-1], weight.shape[0]
        dx = dw = None
        dout = dout if flat else emit("Reshape", dout, (rows, n))
        if b.needs[0]:
            dx = emit("MatMulExt", dout, weight) if bias is None else emit("MatMul", dout, weight, False, False)
            dx = dx if flat else emit("Reshape", dx, x.shape)
        if b.needs[1]:
            x = x if flat else emit("Reshape", x, (rows, k))
            if bias is None:  # another rule of MindSpore's (measured)
                dw = emit("Transpose", emit("MatMulExt", emit("Transpose", x, (1, 0)), dout), (1, 0))
            else:
                dw = emit("MatMul", dout, x, True, False)
        db = emit("SumExt", dout, (0,), False, None) if bias is not None and b.needs[2] else None
        return dx, dw, db
