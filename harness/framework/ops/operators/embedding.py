"""Embedding: rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.errors import UnsupportedError
from harness.framework.ops.base import Backward, operator
from harness.framework.ops.expansion import Composite
from harness.framework.tensor import call as emit


@operator
class Embedding(Composite):
    """indices, table, padding index, largest norm (None), kind of norm, scaling by frequency."""

    name = "Embedding"
    tensors = (0, 1)

    def expand(self, indices: Any, table: Any, *_settings: Any) -> Any:
        return emit("Gather", table, indices, 0, 0)

    def gradient(self, b: Backward) -> Sequence[Any]:
        raise UnsupportedError("ops.embedding has no gradient on the CPU (EmbeddingDenseBackward); use nn.Embedding")
