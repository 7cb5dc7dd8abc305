"""bfloat16 that was written as float32."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.dtypes import DType

Array = np.ndarray[Any, np.dtype[Any]]


def as_dtype(array: Array, dtype: DType) -> Array:
    """``array`` as the dtype of ``npy.dtype_named``; float32 that holds bfloat16 values becomes bfloat16 again, bit for
    bit.

    Raises:
        ValueError: bfloat16 has no such float32 value.
    """
    if array.dtype == dtype.numpy:
        return array
    words = array.view(np.uint32)
    if (words & 0xFFFF).any():
        raise ValueError("its name says BFloat16, and it holds float32 values that are not")
    return (words >> 16).astype(np.uint16).view(dtype.numpy)
