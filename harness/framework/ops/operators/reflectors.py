"""Geqrf and Orgqr: Householder's reflectors of matrices, and the matrix they make."""

from __future__ import annotations

import numpy as np

from harness import dtypes
from harness.errors import DtypeError
from harness.framework.ops import linear
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.graph import Spec, TensorSpec, TupleSpec


def _decomposed(a: Array) -> Array:
    """(m, n) with R above and the reflectors below its diagonal, and a further row of their factors (tau), as LAPACK
    has them: a column that is 0 below its diagonal has the factor 0."""
    m, n = a.shape
    r, factors = a.copy(), np.zeros(n, np.longdouble)
    for at in range(min(m, n)):
        first, tail = r[at, at].copy(), r[at + 1 :, at].copy()
        if not tail.any():
            continue
        size = np.sqrt(linear.matmul(r[at:, at][None], r[at:, at][:, None])[0, 0])
        edge = -np.copysign(size, first)
        factors[at] = (edge - first) / edge
        column = np.concatenate([[np.longdouble(1)], tail / (first - edge)])
        r[at:, at + 1 :] -= factors[at] * column[:, None] * linear.matmul(column[None], r[at:, at + 1 :])
        r[at, at], r[at + 1 :, at] = edge, column[1:]
    return np.concatenate([r, factors[None]])


@operator
class Geqrf(Operator):
    """x (..., m, n): R and the reflectors in one (..., m, n), and their factors (..., min(m, n))."""

    name = "Geqrf"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        shape, dtype = call.shape(0), call.dtype(0)
        if len(shape) < 2:
            raise call.fail("matrices are needed")
        return TupleSpec((TensorSpec(dtype, shape), TensorSpec(dtype, (*shape[:-2], min(shape[-2:])))))

    def kernel(self, call: Call, x: Array) -> tuple[Array, Array]:
        m, n = x.shape[-2:]
        both = linear.each(_decomposed, x, (m + 1, n))
        return both[..., :m, :], both[..., m, : min(m, n)]


@operator
class Orgqr(Operator):
    """x (..., m, n) and factors (..., k): the first n columns of the product of the k reflectors below the diagonal."""

    name = "Orgqr"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        if call.dtype(0) not in (dtypes.float32, dtypes.float64) or call.dtype(1) is not call.dtype(0):
            raise DtypeError(f"Orgqr takes two tensors of Float32 or Float64, got {call.dtype(0)} and {call.dtype(1)}")
        shape, factors = call.shape(0), call.shape(1)
        if len(shape) < 2 or shape[-2] < shape[-1] or factors[:-1] != shape[:-2] or factors[-1] > shape[-1]:
            raise call.fail("matrices (..., m, n) with n at most m and factors (..., k) with k at most n are needed")
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, factors: Array) -> Array:
        m, n = x.shape[-2:]
        below = np.zeros((*x.shape[:-2], 1, n))
        below[..., 0, : factors.shape[-1]] = factors

        def made(both: Array) -> Array:
            out = np.eye(m, n, dtype=np.longdouble)
            for at in range(factors.shape[-1] - 1, -1, -1):
                column = np.concatenate([[np.longdouble(1)], both[at + 1 : m, at]])
                out[at:] -= both[m, at] * column[:, None] * linear.matmul(column[None], out[at:])
            return out

        return linear.each(made, np.concatenate([x, below], -2), (m, n))
