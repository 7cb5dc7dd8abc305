"""One matrix that many others are multiplied with: it is cut once."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.framework.ops import numerics, products

Array = np.ndarray[Any, np.dtype[Any]]


class Factor:
    """A matrix (k, n) of float64, the right factor of products in float64."""

    def __init__(self, matrix: Array) -> None:
        self._matrix = matrix
        self._is_known = numerics.known(matrix) is not None
        self._kept: products.Kept = {}

    def times(self, a: Array) -> Array:
        """``a @ matrix`` for (m, k) in float64, as ``numerics.matmul``: (m, n), each sum rounded once."""
        single = numerics.known(a) if self._is_known else None
        if single is None:
            return numerics.matmul(a, self._matrix)
        whole: Array = products.of_matrices(a[None], self._matrix[None], None, single, kept=self._kept)[0]
        return whole
