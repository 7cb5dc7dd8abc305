"""BatchMatMul: products of matrices that share leading axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class BatchMatMul(Operator):
    """``x @ w`` over equal leading axes; arguments 2 and 3 say which of them is given transposed."""

    name = "BatchMatMul"
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        a, b = call.shape(0), call.shape(1)
        if len(a) < 2 or len(a) != len(b) or (a[:-2] != b[:-2] and -1 not in (*a[:-2], *b[:-2])):
            raise call.fail("both operands need the same leading axes before their matrices")
        m, k = a[:-3:-1] if call.values[2] else a[-2:]
        k2, n = b[:-3:-1] if call.values[3] else b[-2:]
        if -1 not in (k, k2) and k != k2:
            raise call.fail(f"inner dimensions {k} and {k2} differ")
        return TensorSpec(call.dtype(0), (*a[:-2], m, n))

    def kernel(self, call: Call, a: Array, b: Array, transpose_a: bool, transpose_b: bool) -> Array:
        left = np.swapaxes(a, -1, -2) if transpose_a else a
        right = np.swapaxes(b, -1, -2) if transpose_b else b
        return numerics.matmul(left, right, call.outputs()[0].dtype)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, w, ta, tb = b.inputs
        dx = emit(self.name, w, b.dout, tb, True) if ta else emit(self.name, b.dout, w, False, not tb)
        dw = emit(self.name, b.dout, x, True, ta) if tb else emit(self.name, x, b.dout, not ta, False)
        return dx, dw, None, None
