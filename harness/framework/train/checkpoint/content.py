"""The content of a checkpoint: named tensors, and texts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import CheckpointError

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
        """An entry for a tensor or number: int becomes Int64, float becomes Float32, as in MindSpore.

        Raises:
            DtypeError: the value has no dtype.
        """
        if isinstance(value, str):
            return cls(None, np.array(value))
        plain = {bool: np.bool_, int: np.int64, float: np.float32}
        array = np.ascontiguousarray(value, plain.get(type(value))).reshape(np.shape(value))
        return cls(dtypes.from_numpy(array.dtype), array)

    @classmethod
    def stored(cls, dtype: DType, raw: bytes | memoryview, shape: Sequence[int], where: str) -> Entry:
        """An entry of bytes in little-endian order, as many as ``shape`` asks for.

        Raises:
            CheckpointError: no array has that shape.
        """
        little = np.frombuffer(raw, dtype.numpy.newbyteorder("<") if sys.byteorder == "big" else dtype.numpy)
        try:
            return cls(dtype, little.astype(dtype.numpy).reshape(shape))
        except ValueError as error:  # too many axes, or sizes beyond the address space beside a 0
            raise CheckpointError(f"{where}: no array has the shape {str(tuple(shape))[:80]}: {error}") from None


Content = dict[str, Entry]
