"""``Embedding``: rows of a table by their numbers."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.dtypes import DType
from harness.errors import SettingError
from harness.framework.nn import checks
from harness.framework.nn.cell import Cell
from harness.framework.nn.initializer import initializer
from harness.framework.nn.namespace import ops
from harness.framework.tensor import Parameter, Tensor

__all__ = ["Embedding"]


class Embedding(Cell):
    """Looks up rows of ``embedding_table`` (vocab_size, embedding_size): ids of any shape give (*shape, size).

    Args:
        use_one_hot: looks up by a product with one-hot rows.
        embedding_table: initializer of the table (always float32, as measured).
        dtype: dtype of the one-hot rows.
        padding_idx: a row that starts as zeros.
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        use_one_hot: bool = False,
        embedding_table: Any = "normal",
        dtype: DType = dtypes.float32,
        padding_idx: int | None = None,
    ) -> None:
        super().__init__()
        self.vocab_size = checks.positive_int(vocab_size, "vocab_size", self.cls_name)
        self.embedding_size = checks.positive_int(embedding_size, "embedding_size", self.cls_name)
        self.use_one_hot = checks.boolean(use_one_hot, "use_one_hot", self.cls_name)
        self.dtype = dtype
        self.padding_idx = padding_idx
        table = initializer(embedding_table, (vocab_size, embedding_size))
        if padding_idx is not None:
            if isinstance(padding_idx, bool) or not isinstance(padding_idx, int) or not 0 <= padding_idx < vocab_size:
                raise SettingError(
                    f"{self.cls_name}: padding_idx must be an int in [0, {vocab_size}), got {padding_idx!r}"
                )
            rows = table.asnumpy().copy()
            rows[padding_idx] = 0
            table = Tensor(rows, table.dtype)
        self.embedding_table = Parameter(table, name="embedding_table")
        self.reshape_flat = ops.Reshape()
        self.reshape = ops.Reshape()
        self.gather = ops.Gather()
        self.one_hot = ops.OneHot()
        self.on_value = Tensor(1.0, dtype)
        self.off_value = Tensor(0.0, dtype)
        self.array_mul = ops.MatMul()

    def construct(self, ids: Tensor) -> Any:
        flat = self.reshape_flat(ids, (-1,))
        if self.use_one_hot:
            rows = self.one_hot(flat, self.vocab_size, self.on_value, self.off_value)
            found = self.array_mul(rows, self.embedding_table)
        else:
            found = self.gather(self.embedding_table, flat, 0)
        return self.reshape(found, (*ids.shape, self.embedding_size))

    def extend_repr(self) -> str:
        return (
            f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}, use_one_hot={self.use_one_hot}, "
            f"embedding_table={self.embedding_table}, dtype={self.dtype}, padding_idx={self.padding_idx}"
        )
