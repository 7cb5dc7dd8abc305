"""MatMul of two matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class MatMul(Operator):
    """``x @ w`` for (m, k) and (k, n); arguments 2 and 3 say which of them is given transposed."""

    name = "MatMul"
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        a, b = call.shape(0), call.shape(1)
        if len(a) != 2 or len(b) != 2:
            raise call.fail("both operands must have two dimensions")
        m, k = a[::-1] if call.values[2] else a
        k2, n = b[::-1] if call.values[3] else b
        if -1 not in (k, k2) and k != k2:
            raise call.fail(f"inner dimensions {k} and {k2} differ")
        return TensorSpec(call.dtype(0), (m, n))

    def kernel(self, call: Call, a: Array, b: Array, transpose_a: bool, transpose_b: bool) -> Array:
        return numerics.matmul(a.T if transpose_a else a, b.T if transpose_b else b, call.outputs()[0].dtype)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, w, ta, tb = b.inputs
        dx = emit("MatMul", w, b.dout, tb, True) if ta else emit("MatMul", b.dout, w, False, not tb)
        dw = emit("MatMul", b.dout, x, True, ta) if tb else emit("MatMul", x, b.dout, not ta, False)
        return dx, dw, None, None
