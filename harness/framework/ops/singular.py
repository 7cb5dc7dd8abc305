"""Singular values and eigenvalues of single matrices, by Jacobi's rotations in long double, in a fixed order.

The signs of vectors are those of the published algorithm that MindSpore's CPU uses for fewer than 16 columns:
Householder's reduction with the largest column first, then rotations of both sides (Eigen's ``JacobiSVD``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.framework.ops.linear import matmul

Array = np.ndarray[Any, np.dtype[Any]]
_SMALL = np.finfo(np.longdouble).eps * 2
_SWEEPS = 60


def _reduced(a: Array) -> tuple[Array, Array, Array]:
    """Q (m, m), R (m, n) and the order of columns of (m, n), m > n; the largest column comes first."""
    m, n = a.shape
    r, q, order = a.copy(), np.eye(m, dtype=np.longdouble), np.arange(n)
    for at in range(n):
        best = at + int(np.argmax((r[at:, at:] ** 2).sum(0)))
        r[:, [at, best]], order[[at, best]] = r[:, [best, at]], order[[best, at]]
        column = r[at:, at].copy()
        if not column[1:].any():
            continue
        column[0] += np.copysign(np.sqrt((column**2).sum()), column[0])
        scale = 2 / (column**2).sum()
        r[at:] -= scale * column[:, None] * matmul(column[None], r[at:])
        q[:, at:] -= scale * matmul(q[:, at:], column[:, None]) * column
    return q, np.triu(r), order


def _turn(first: Array, second: Array, cosine: Any, sine: Any) -> None:
    """Two rows (or columns) turned in their plane, in place."""
    kept = first.copy()
    first[...] = cosine * kept + sine * second
    second[...] = cosine * second - sine * kept


def _symmetric(x: Any, y: Any, z: Any) -> tuple[Any, Any]:
    """Cosine and sine that make [[x, y], [y, z]] diagonal."""
    if y == 0:
        return np.longdouble(1), np.longdouble(0)
    half = (x - z) / (2 * abs(y))
    root = np.sqrt(half * half + 1)
    tangent = 1 / (half + root) if half > 0 else 1 / (half - root)
    cosine = 1 / np.sqrt(tangent * tangent + 1)
    return cosine, -np.sign(tangent) * np.sign(y) * abs(tangent) * cosine


def _pair(work: Array, p: int, q: int) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """The turns of rows and of columns that make two of them diagonal."""
    total, apart = work[p, p] + work[q, q], work[q, p] - work[p, q]
    cosine, sine = np.longdouble(1), np.longdouble(0)
    if apart != 0:
        size = np.sqrt(1 + (total / apart) ** 2)
        cosine, sine = total / apart / size, 1 / size
    both = np.array([work[[p, p], [p, q]], work[[q, q], [p, q]]])
    _turn(both[0], both[1], cosine, sine)
    right = _symmetric(both[0, 0], both[0, 1], both[1, 1])
    return (cosine * right[0] + sine * right[1], sine * right[0] - cosine * right[1]), right


def _rotated(work: Array, u: Array, v: Array) -> None:
    """Makes ``work`` (k, k) diagonal in place; ``u`` and ``v`` turn with it."""
    n = len(work)
    for _ in range(_SWEEPS):
        least, done = _SMALL * np.abs(np.diagonal(work)).max(initial=0), True
        for p in range(1, n):
            for q in range(p):
                if not max(abs(work[p, q]), abs(work[q, p])) > least:
                    continue
                done = False
                left, right = _pair(work, p, q)
                _turn(work[p], work[q], *left)
                _turn(u[:, p], u[:, q], *left)
                _turn(work[:, p], work[:, q], right[0], -right[1])
                _turn(v[:, p], v[:, q], right[0], -right[1])
        if done:
            return


def singular(a: Array) -> tuple[Array, Array, Array]:
    """Singular values (k,), descending, and whole U (m, m) and V (n, n) of ``a`` (m, n), k = min(m, n)."""
    m, n = a.shape
    if m < n:
        values, v, u = _by_rows(a.T, turned=True)
        return values, u, v
    return _by_rows(a, turned=False)


def _by_rows(a: Array, turned: bool) -> tuple[Array, Array, Array]:
    """``singular`` for m >= n; ``turned``: of the transposed matrix, whose rows turn first."""
    m, n = a.shape
    u, v, work = np.eye(m, dtype=np.longdouble), np.eye(n, dtype=np.longdouble), a.copy()
    if m > n:
        u, r, order = _reduced(a)
        v, work = v[:, order], r[:n].copy()
    if turned:
        work = work.T.copy()
        _rotated(work, v, u)
    else:
        _rotated(work, u, v)
    values = np.diagonal(work).copy()
    (v if turned else u)[:, :n] *= np.where(values < 0, -1, 1)
    values = np.abs(values)
    for at in range(n):
        best = at + int(np.argmax(values[at:]))
        values[[at, best]] = values[[best, at]]
        u[:, [at, best]], v[:, [at, best]] = u[:, [best, at]], v[:, [best, at]]
    return values, u, v


def symmetric(a: Array) -> tuple[Array, Array]:
    """Eigenvalues (n,), ascending, and vectors (n, n) in columns of the symmetric ``a`` (its lower triangle)."""
    work = np.tril(a) + np.tril(a, -1).T
    vectors = np.eye(len(a), dtype=np.longdouble)
    for _ in range(_SWEEPS):
        least, done = _SMALL * np.abs(np.diagonal(work)).max(initial=0), True
        for p in range(1, len(a)):
            for q in range(p):
                if abs(work[p, q]) > least:
                    done = False
                    cosine, sine = _symmetric(work[p, p], work[p, q], work[q, q])
                    _turn(work[p], work[q], cosine, -sine)
                    _turn(work[:, p], work[:, q], cosine, -sine)
                    _turn(vectors[:, p], vectors[:, q], cosine, -sine)
        if done:
            break
    values = np.diagonal(work)
    order = np.argsort(values, kind="stable")
    return values[order], vectors[:, order]
