"""Lstsq, MatrixSolve, LuSolve and LuUnpack: systems of linear equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import DtypeError
from harness.framework.ops import linear
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


def _solved(a: Array, b: Array) -> Array:
    return linear.eliminated(a, b)[0]


@operator
class Lstsq(Operator):
    """x (m, n), a (m, k) or (m,): the (n, k) whose product with x is nearest to a, the shortest of several."""

    name = "Lstsq"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0, 1)
        x, a = call.shape(0), call.shape(1)
        if len(x) != 2 or len(a) not in (1, 2) or x[0] != a[0]:
            raise call.fail("a matrix (m, n) and (m, k) or (m,) are needed")
        if call.dtype(0) is not call.dtype(1):
            raise DtypeError(f"Lstsq takes tensors of one dtype, got {call.dtype(0)} and {call.dtype(1)}")
        return TensorSpec(call.dtype(0), (x[1], a[1] if len(a) == 2 else 1))

    def kernel(self, call: Call, x: Array, a: Array) -> Array:
        matrix, beside = x.astype(np.longdouble), a.reshape(len(a), -1).astype(np.longdouble)
        turned = matrix.T
        if x.shape[0] >= x.shape[1]:
            return _solved(linear.matmul(turned, matrix), linear.matmul(turned, beside))
        return linear.matmul(turned, _solved(linear.matmul(matrix, turned), beside))


@operator
class MatrixSolve(Operator):
    """matrix (..., n, n), rhs (..., n, k): the solution. Attribute ``adjoint``: of the transposed matrix."""

    name = "MatrixSolve"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0, 1)
        x, rhs = call.shape(0), call.shape(1)
        if len(x) < 2 or x[-1] != x[-2] or x[:-1] != rhs[:-1]:
            raise call.fail("square matrices (..., n, n) and (..., n, k) are needed")
        if call.dtype(0) is not call.dtype(1):
            raise DtypeError(f"MatrixSolve takes tensors of one dtype, got {call.dtype(0)} and {call.dtype(1)}")
        return call.tensor(1).tensor

    def kernel(self, call: Call, x: Array, rhs: Array) -> Array:
        n = x.shape[-1]
        given = np.swapaxes(x, -1, -2) if call.attrs["adjoint"] else x
        both = np.concatenate([given, rhs], -1)
        return linear.each(lambda pair: _solved(pair[:, :n], pair[:, n:]), both, rhs.shape[-2:])

    def gradient(self, b: Backward) -> Sequence[Any]:
        adjoint = b.attrs["adjoint"]
        drhs = emit("MatrixSolve", b.inputs[0], b.dout, adjoint=not adjoint)
        multiply = "MatMul" if len(b.out.shape) == 2 else "BatchMatMul"
        pair = (b.out, drhs) if adjoint else (drhs, b.out)
        return emit("Neg", emit(multiply, *pair, False, True)), drhs


def _rows(pivots: Array, size: int) -> Array:
    """The order of rows that exchanges by ``pivots`` (from 1 on) leave."""
    order = np.arange(size)
    for at, other in enumerate(pivots):
        order[[at, other - 1]] = order[[other - 1, at]]
    return order


@operator
class LuSolve(Operator):
    """x (..., n, k), lu (..., n, n), pivots (..., n) from 1 on: the solution for the matrix that was decomposed."""

    name = "LuSolve"
    functional = False
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0, 1)
        x, lu, pivots = (call.shape(k) for k in range(3))
        if len(x) < 2 or len(lu) != len(x) or lu[-1] != lu[-2] or x[:-1] != lu[:-1] or pivots != lu[:-1]:
            raise call.fail("(..., n, k), (..., n, n) and (..., n) are needed")
        if call.dtype(2) is not dtypes.int32:
            raise DtypeError(f"LuSolve: the pivots must be Int32, got {call.dtype(2)}")
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, lu: Array, pivots: Array) -> Array:
        n = lu.shape[-1]
        order = np.array([_rows(row, n) for row in pivots.reshape(-1, n)]).reshape(*pivots.shape, 1)
        both = np.concatenate([lu, np.take_along_axis(x, order, -2)], -1)

        def solved(pair: Array) -> Array:
            lower = np.tril(pair[:, :n], -1) + np.eye(n)
            return _solved(np.triu(pair[:, :n]), _solved(lower, pair[:, n:]))

        return linear.each(solved, both, x.shape[-2:])


@operator
class LuUnpack(Operator):
    """lu (..., m, n), pivots (..., min(m, n)) from 1 on: the permutation (..., m, m), and both triangles."""

    name = "LuUnpack"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        *lead, m, n = call.shape(0)
        inner, dtype = min(m, n), call.dtype(0)
        if call.shape(1) != (*lead, inner):
            raise call.fail("(..., m, n) and (..., min(m, n)) are needed")
        shapes = ((m, m), (m, inner), (inner, n))
        return TupleSpec(tuple(TensorSpec(dtype, (*lead, *shape)) for shape in shapes))

    def kernel(self, call: Call, lu: Array, pivots: Array) -> tuple[Array, Array, Array]:
        *lead, m, n = lu.shape
        inner = min(m, n)
        whole = np.zeros((*lead, m, m))
        for at in np.ndindex(*lead):
            whole[(*at, _rows(pivots[at], m), np.arange(m))] = 1
        lower = np.tril(lu[..., :inner], -1) + np.eye(m, inner)
        return whole, lower, np.triu(lu[..., :inner, :])
