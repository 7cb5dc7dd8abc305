"""Similarity of the rows of a matrix with one another."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import SettingTypeError, StateError
from harness.framework.nn import checks
from harness.framework.train.metrics.base import Array, Metric, rearrange_inputs, typed


class CosineSimilarity(Metric):
    """Matrix (N, N) of the similarities of N rows; the last update counts.

    Args:
        similarity: ``cosine`` or ``dot``.
        reduction: ``none``, ``sum`` or ``mean`` over each row.
        zero_diagonal: the similarity of a row with itself counts 0.
    """

    def __init__(self, similarity: str = "cosine", reduction: str = "none", zero_diagonal: bool = True) -> None:
        super().__init__()
        owner = "CosineSimilarity"
        self.similarity = checks.among(
            typed(similarity, (str,), "similarity", owner), ("dot", "cosine"), "similarity", owner
        )
        reductions = ("none", "sum", "mean")
        self.reduction = checks.among(typed(reduction, (str,), "reduction", owner), reductions, "reduction", owner)
        self.zero_diagonal = checks.boolean(zero_diagonal, "zero_diagonal", owner)
        self.clear()

    def clear(self) -> None:
        self._matrix: Array | None = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        if len(inputs) != 1:
            raise SettingTypeError(f"CosineSimilarity.update: takes 1 input (rows to compare), got {len(inputs)}")
        rows = self._convert_data(inputs[0])
        if rows.ndim != 2:
            raise np.exceptions.AxisError(
                f"CosineSimilarity.update: the input must be a matrix, got shape {rows.shape}"
            )
        if self.similarity == "cosine":
            with np.errstate(invalid="ignore"):
                rows = rows / np.linalg.norm(rows, ord=2, axis=1, keepdims=True)
        self._matrix = np.dot(rows, rows.T)

    def eval(self) -> Array:
        if self._matrix is None:
            raise StateError("CosineSimilarity.eval: call update first")
        matrix = self._matrix.copy()
        if self.zero_diagonal:
            np.fill_diagonal(matrix, 0)
        if self.reduction == "none":
            return matrix
        return np.asarray(matrix.mean(axis=-1) if self.reduction == "mean" else matrix.sum(axis=-1))
