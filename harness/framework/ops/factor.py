"""One matrix that many others are multiplied with: its slices and their sizes are computed once."""

from __future__ import annotations

from math import ceil, log2
from typing import Any

import numpy as np

from harness import dtypes
from harness.framework.ops import numerics, products
from harness.framework.ops.slices import SLACK, UNIT, joined, slices, two_sum

Array = np.ndarray[Any, np.dtype[Any]]

#: up to so many rows a product uses two slices; ``products`` cuts more rows into tiles
_ROWS = 64


class Factor:
    """A matrix (k, n) of float64, the right factor of products in float64.

    Each product takes one BLAS call for each of two slices; the two slices of the left factor, and their remainder, lie
    below one another. If the matrix's numbers were float32, the slices leave little of it: the smallest numbers of some
    columns, which are multiplied separately.
    """

    def __init__(self, matrix: Array) -> None:
        self._matrix = matrix
        self._is_known = numerics.known(matrix) is not None
        self._kept: products.Kept = {}
        self._bits = (53 - ceil(log2(max(1, len(matrix))))) // 2
        if self._is_known:
            self._slices, lefts = slices(matrix, 0, self._bits, 2)
            self._columns = np.flatnonzero(lefts[2].any(0))
            self._rest = np.ascontiguousarray(lefts[2][:, self._columns])
            sizes = [np.sqrt(np.einsum("kn,kn->n", x, x)) for x in (*self._slices, lefts[2], matrix)]
            self._low, self._left, self._whole = sizes[1], sizes[2], sizes[3]
            self._both = sizes[0] + sizes[1]

    def times(self, a: Array) -> Array:
        """``a @ matrix`` for (m, k) in float64, as ``numerics.matmul``: (m, n), each sum rounded once."""
        single = numerics.known(a) if self._is_known else None
        if single is None:
            return numerics.matmul(a, self._matrix)
        if 0 < len(a) <= _ROWS:
            out = self._of_two(a, products.sums_of(a[None], self._matrix[None], None, single))
            if out is not None:
                return out
        whole: Array = products.of_matrices(a[None], self._matrix[None], None, single, kept=self._kept)[0]
        return whole

    def _of_two(self, a: Array, sums: products.Sums) -> Array | None:
        """The product from two slices of each factor; None if more than a few sums stay open."""
        m, units = len(a), (len(self._matrix) + 16) * UNIT
        parts, lefts = slices(a, 1, self._bits, 2)
        rows = np.concatenate([*parts, lefts[2]])
        high, low = (np.matmul(rows, each) for each in self._slices)
        # products and sums of whole slices are exact in any order
        total, first = two_sum(high[:m], high[m : 2 * m])
        total, second = two_sum(total, low[:m])
        rest = first + second
        for each in (low[m : 2 * m], high[2 * m :], low[2 * m :]):
            rest += each
        if len(self._columns):
            rest[:, self._columns] += np.matmul(a, self._rest)
        sizes = (np.sqrt(np.einsum("mk,mk->m", x, x))[:, None] for x in (a, parts[1], lefts[2]))
        whole, second_slice, left = sizes
        bound = second_slice * self._low + left * self._both + whole * self._left
        bound = bound * units + whole * (9 * UNIT) ** 2 * self._whole
        near, rest, bound = joined(total[None], rest[None], bound[None] * SLACK)
        out, is_open = products.settled_sliced(near, rest, bound, dtypes.float64)
        count = np.count_nonzero(is_open)
        if count > products.at_most(is_open.size):
            return None
        if count:
            out[is_open] = products.few(sums, products.places_of(is_open), dtypes.float64)
        result: Array = products.with_zero_signs(sums, out)[0]
        return result
