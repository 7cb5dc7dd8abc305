"""Primitives that search: places among sorted values, the largest of a row."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.framework.ops.primitive import Primitive
from harness.framework.tensor import call

__all__ = ["InTopK", "SearchSorted"]


class InTopK(Primitive):
    """Whether an element of each row is among the row's ``k`` largest."""

    def __init__(self, k: int) -> None:
        super().__init__(attrs={"output_names": ["y"], "k": k, "input_names": ["x1", "x2", "k"]})


class SearchSorted(Primitive):
    """Where values would stand in rows in order."""

    def __init__(self, dtype: Any = dtypes.int64, right: bool = False) -> None:
        self.settings = 34 if dtype is dtypes.int32 else 35, right
        super().__init__()

    def __call__(self, sorted_sequence: Any, values: Any, sorter: Any = None) -> Any:
        return call("SearchSorted", sorted_sequence, values, sorter, *self.settings, **self.marks)
