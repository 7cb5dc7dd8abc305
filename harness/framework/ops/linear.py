"""Linear algebra of single matrices in long double, by elementwise operations in a fixed order: no LAPACK, whose bits
depend on the processor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def each(function: Callable[[Array], Any], matrices: Array, shape: tuple[int, ...]) -> Array:
    """``function`` of each matrix (m, n) of a stack, as a stack of results of ``shape``, in long double."""
    flat = matrices.astype(np.longdouble).reshape(-1, *matrices.shape[-2:])
    parts = [np.asarray(function(matrix), np.longdouble) for matrix in flat]
    return np.array(parts, np.longdouble).reshape((*matrices.shape[:-2], *shape))


def eliminated(a: Array, beside: Array) -> tuple[Array, Array]:
    """Gauss and Jordan with partial pivoting of ``a`` (n, n), applied to ``beside`` (n, k) as well.

    Returns:
        The solution of ``a x = beside``, and the signed pivots, whose product is the determinant (0 stays in it: then
        the solution is not finite).
    """
    n = len(a)
    work = np.concatenate([a, beside], 1)
    pivots = np.ones(n, np.longdouble)
    for at in range(n):
        best = at + int(np.argmax(np.abs(work[at:, at])))
        if best != at:
            work[[at, best]] = work[[best, at]]
            pivots[at] = -1
        pivot = work[at, at].copy()
        pivots[at] *= pivot
        with np.errstate(all="ignore"):
            work[at] /= pivot
            others = np.arange(n) != at
            work[others] -= work[others, at, None] * work[at]
    return work[:, n:], pivots


def inverse(a: Array, least: float = 0.0) -> Array:
    """The inverse of (n, n), by the largest pivots of all.

    Args:
        least: pivots that are not larger than this part of the largest count as 0: what they would give is 0 (as
            MindSpore's CPU, measured).
    """
    n = len(a)
    work = np.concatenate([a, np.eye(n, dtype=np.longdouble)], 1)
    columns, rank, bound = np.arange(n), n, np.longdouble(0)
    for at in range(n):
        row, column = divmod(int(np.argmax(np.abs(work[at:, at:n]))), n - at)
        work[[at, at + row]] = work[[at + row, at]]
        work[:, [at, at + column]] = work[:, [at + column, at]]
        columns[[at, at + column]] = columns[[at + column, at]]
        bound = bound if at else np.abs(work[0, 0]) * least
        if not np.abs(work[at, at]) > bound:
            rank = at
            break
        work[at] /= work[at, at].copy()
        others = np.arange(n) != at
        work[others] -= work[others, at, None] * work[at]
    out = np.zeros((n, n), np.longdouble)
    out[columns[:rank]] = work[:rank, n:]
    return out


def pivots(a: Array) -> Array:
    """The n factors of the determinant of (n, n)."""
    work, found = a.copy(), np.ones(len(a), np.longdouble)
    for at in range(len(a)):
        best = at + int(np.argmax(np.abs(work[at:, at])))
        if best != at:
            work[[at, best]] = work[[best, at]]
            found[at] = -1
        if work[at, at] != 0:
            work[at + 1 :] -= work[at + 1 :, at, None] / work[at, at] * work[at]
        found[at] *= work[at, at]
    return found


def product(factors: Array) -> Any:
    """The product of a vector's elements, one after the other."""
    out = np.longdouble(1)
    for factor in factors:
        out = out * factor
    return out


def matmul(a: Array, b: Array) -> Array:
    """(m, k) times (k, n): products added one after the other."""
    out = np.zeros((a.shape[0], b.shape[1]), np.longdouble)
    for at in range(a.shape[1]):
        out += a[:, at, None] * b[at]
    return out


def power(a: Array, exponent: int) -> Array:
    """``a`` (n, n) to a whole power; a negative one is that of its inverse."""
    base, left = (inverse(a), -exponent) if exponent < 0 else (a, exponent)
    out = np.eye(len(a), dtype=np.longdouble)
    while left:
        out, left = (matmul(out, base) if left & 1 else out), left >> 1
        base = matmul(base, base) if left else base
    return out


def cholesky(a: Array) -> Array:
    """The lower triangle whose product with its transpose is ``a`` (n, n)."""
    out = np.zeros_like(a)
    for at in range(len(a)):
        column = a[at:, at].copy()
        for before in range(at):
            column -= out[at:, before] * out[at, before]
        out[at:, at] = column / np.sqrt(column[0])
    return out


def orthogonal(a: Array) -> tuple[Array, Array]:
    """Householder's Q (m, m) and R (m, n) of ``a`` (m, n), with LAPACK's signs."""
    m, n = a.shape
    r, q = a.copy(), np.eye(m, dtype=np.longdouble)
    for at in range(min(m - 1, n)):
        column = r[at:, at].copy()
        size = np.sqrt(matmul(column[None], column[:, None])[0, 0])
        if size == 0 or not column[1:].any():
            continue
        column[0] += np.copysign(size, column[0])
        scale = 2 / matmul(column[None], column[:, None])[0, 0]
        r[at:] -= scale * column[:, None] * matmul(column[None], r[at:])
        q[:, at:] -= scale * matmul(q[:, at:], column[:, None]) * column
    return q, np.triu(r)
