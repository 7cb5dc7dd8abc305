"""Qr, Cholesky, CholeskyInverse and CholeskySolve, of stacks of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import linear
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


@operator
class Qr(Operator):
    """x (..., m, n) and whether Q is whole (..., m, m), else (..., m, min(m, n)). Gives Q and R."""

    name = "Qr"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        shape = call.shape(0)
        if len(shape) < 2:
            raise call.fail("matrices are needed")
        *lead, m, n = shape
        inner = m if call.values[1] else min(m, n)
        dtype = call.dtype(0)
        return TupleSpec((TensorSpec(dtype, (*lead, m, inner)), TensorSpec(dtype, (*lead, inner, n))))

    def kernel(self, call: Call, x: Array, _whole: bool) -> tuple[Array, Array]:
        m, n = x.shape[-2:]
        inner = call.outputs()[0].shape[-1]
        q = linear.each(lambda a: linear.orthogonal(a)[0][:, :inner], x, (m, inner))
        return q, linear.each(lambda a: linear.orthogonal(a)[1][:inner], x, (inner, n))


class _Triangle(Operator):
    """x (..., n, n) and whether its upper triangle is meant."""

    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        shape = call.shape(0)
        if len(shape) < 2 or shape[-1] != shape[-2]:
            raise call.fail("square matrices are needed")
        return call.tensor(0).tensor


@operator
class Cholesky(_Triangle):
    """The triangle whose product with its transpose is x."""

    name = "Cholesky"

    def kernel(self, call: Call, x: Array, upper: bool) -> Array:
        out = linear.each(linear.cholesky, x, x.shape[-2:])
        return np.swapaxes(out, -1, -2) if upper else out


def _whole(triangle: Array) -> Array:
    """The matrix whose lower triangle of Cholesky is given."""
    lower = np.tril(triangle)
    return linear.matmul(lower, lower.T)


@operator
class CholeskyInverse(_Triangle):
    """The inverse of the matrix whose triangle is given."""

    name = "CholeskyInverse"

    def kernel(self, call: Call, x: Array, upper: bool) -> Array:
        given = np.swapaxes(x, -1, -2) if upper else x
        return linear.each(lambda a: linear.inverse(_whole(a)), given, x.shape[-2:])

    def gradient(self, b: Backward) -> Sequence[Any]:
        x = b.inputs[0]
        both = emit("Add", b.dout, emit("Transpose", b.dout, (1, 0)))
        inner = emit("MatMul", b.out, emit("MatMul", both, b.out, False, False), False, False)
        # Of a lower triangle the order is that of an upper one, too (measured).
        return emit("Neg", emit("MatMul", x, inner, False, False)), None


@operator
class CholeskySolve(Operator):
    """The solution of a system whose right side is argument 0 and whose matrix has the triangle argument 1."""

    name = "CholeskySolve"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0, 1)
        right, a = call.shape(0), call.shape(1)
        if len(a) < 2 or a[-1] != a[-2] or right[:-1] != a[:-1] or len(right) != len(a):
            raise call.fail("a right side (n, k) and a triangle (n, n) are needed")
        return call.tensor(0).tensor

    def kernel(self, call: Call, right: Array, a: Array) -> Array:
        given = np.swapaxes(a, -1, -2) if call.attrs["upper"] else a
        both = np.concatenate([given, right], -1).astype(np.longdouble)
        n = a.shape[-1]
        return linear.each(lambda m: linear.eliminated(_whole(m[:, :n]), m[:, n:])[0], both, right.shape[-2:])

    def gradient(self, b: Backward) -> Sequence[Any]:
        right = emit(self.name, b.dout, b.inputs[1], **b.attrs)
        if not b.needs[1] or len(b.inputs[1].shape) != 2:
            return right, None
        inner = emit("MatMul", right, emit("Transpose", b.out, (1, 0)), False, False)
        both = emit("Add", inner, emit("Transpose", inner, (1, 0)))
        a = b.inputs[1]
        product = emit("MatMul", a, both, False, False) if b.attrs["upper"] else emit("MatMul", both, a, False, False)
        return right, emit("Neg", product)
