"""What a checkpoint holds: named tensors, and texts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from harness import dtypes
from harness.dtypes import DType

Array = np.ndarray[Any, np.dtype[Any]]


class Entry(NamedTuple):
    """One tensor of a checkpoint.

    Attributes:
        dtype: of its elements; None for a text.
        array: its elements, C-contiguous; for a text 0-d of numpy's ``U``.
    """

    dtype: DType | None
    array: Array

    @classmethod
    def of(cls, value: Any) -> Entry:
        """An entry of a tensor's or number's value: int is Int64, float Float32, as MindSpore keeps them.

        Raises:
            DtypeError: there is no dtype for it.
        """
        if isinstance(value, str):
            return cls(None, np.array(value))
        plain = {bool: np.bool_, int: np.int64, float: np.float32}
        array = np.ascontiguousarray(value, plain.get(type(value))).reshape(np.shape(value))
        return cls(dtypes.from_numpy(array.dtype), array)


Content = dict[str, Entry]
