"""``ops.MatMul`` and ``ops.BatchMatMul``."""

from __future__ import annotations

from harness.framework.ops.primitive import Primitive

__all__ = ["BatchMatMul", "MatMul"]


class MatMul(Primitive):
    """``MatMul(transpose_a=False, transpose_b=False)(x, y)`` of two matrices."""

    def __init__(self, transpose_a: bool = False, transpose_b: bool = False) -> None:
        for name, value in (("transpose_a", transpose_a), ("transpose_b", transpose_b)):
            if not isinstance(value, bool):
                raise TypeError(f"{type(self).__name__}: {name} must be a bool, got {value!r}")
        super().__init__(trailing=(transpose_a, transpose_b))


class BatchMatMul(MatMul):
    """``MatMul`` of the last two axes; the others are batches."""
