"""How Ascend writes element types that ``.npy`` lacks: bfloat16 as float32, int4 as int8.

Source: the writer in MindSpore's public source, which converts before it writes; the name then says float32 or int8.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from harness.errors import DtypeError

Array = np.ndarray[Any, np.dtype[Any]]


def as_saved(array: Array) -> Array:
    """``array`` as it is written: bfloat16 as float32 of the same values (its bits above 16 zeros), else itself."""
    if array.dtype != ml_dtypes.bfloat16:
        return array
    bits = np.ascontiguousarray(array).view(np.uint16).astype(np.uint32) << np.uint32(16)
    return bits.view(np.float32).reshape(array.shape)


def split_int4(packed: Array) -> Array:
    """Two int4 of each byte, the low half first, as int8 from -8 to 7.

    Args:
        packed: one dimension of int8 or uint8.

    Returns:
        int8 of twice the length.
    """
    if packed.dtype not in (np.dtype(np.int8), np.dtype(np.uint8)) or packed.ndim != 1:
        raise DtypeError(f"packed int4 is one dimension of bytes, got {packed.dtype} of shape {list(packed.shape)}")
    data = packed.view(np.uint8)
    halves = np.stack([data & 0xF, data >> 4], axis=1).reshape(-1)
    return (halves << 4).view(np.int8) >> 4


def pack_int4(values: Array) -> Array:
    """The reverse of ``split_int4``: int8 values from -8 to 7, an even number of them, as bytes."""
    if values.dtype != np.int8 or values.ndim != 1 or values.size % 2:
        raise DtypeError(
            f"int4 is packed from an even number of int8, got {values.dtype} of shape {list(values.shape)}"
        )
    if values.size and (values.min() < -8 or values.max() > 7):
        raise DtypeError(f"int4 goes from -8 to 7, got {values.min()} to {values.max()}")
    halves = values.view(np.uint8).reshape(-1, 2) & 0xF
    return halves[:, 0] | halves[:, 1] << 4
