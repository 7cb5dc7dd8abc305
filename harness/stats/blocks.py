"""Gives arrays as cache-sized blocks of a type with which numpy is fast and exact."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

#: Elements of a block. 65,536 float64 are 512 KiB: the block, its float64 twin and a mask fit a 1 MiB L2 cache;
#: measured fastest among 16 Ki .. 128 Ki elements. It is part of the definition of a sum: see ``sums``.
BLOCK = 65_536

#: Numbers added side by side (see ``sums``); 8 KiB of float64 stay in the first cache level.
LANES = 1024

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


class Buffers(threading.local):
    """Reused working memory of one thread: 512 + 256 + 64 KiB."""

    def __init__(self) -> None:
        self.wide: Array = np.empty(BLOCK, np.float64)
        self.single: Array = np.empty(BLOCK, np.float32)
        self.mask: Array = np.empty(BLOCK, np.bool_)


BUFFERS = Buffers()


def blocks(array: Array) -> Iterator[Array]:
    """Yields 1-D blocks of at most ``BLOCK`` elements in C order, each as bool-free, 2- or 4- or 8-byte numbers.

    float16, bfloat16 and the types of 8 and 4 bits in ml_dtypes become float32 (exactly), bool becomes uint8, complex
    numbers become their interleaved real and imaginary parts. A block may be a reused buffer: it is valid until the
    next one is requested.
    """
    flat = flat_view(array)
    if flat.dtype == _BFLOAT16:
        flat = flat.view(np.uint16)
        for at in range(0, flat.size, BLOCK):
            yield _from_bfloat16(flat[at : at + BLOCK])
    elif flat.dtype == np.float16:
        for at in range(0, flat.size, BLOCK):
            half = flat[at : at + BLOCK]
            single = BUFFERS.single[: half.size]
            np.copyto(single, half)
            yield single
    elif flat.dtype.isbuiltin == 2:  # registered by ml_dtypes
        for at in range(0, flat.size, BLOCK):
            yield flat[at : at + BLOCK].astype(np.float32)
    else:
        for at in range(0, flat.size, BLOCK):
            yield flat[at : at + BLOCK]


def flat_view(array: Array) -> Array:
    """``array`` as 1-D native-endian numbers in C order; bool as uint8, complex as interleaved parts."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    flat = array.reshape(-1)
    if flat.dtype == np.bool_:
        return flat.view(np.uint8)
    if flat.dtype.kind == "c":
        return flat.view(np.float32 if flat.dtype == np.complex64 else np.float64)
    return flat


def _from_bfloat16(words: Array) -> Array:
    """bfloat16 is the upper half of a float32: shift it there."""
    single = BUFFERS.single[: words.size]
    wide = single.view(np.uint32)
    np.copyto(wide, words)
    np.left_shift(wide, np.uint32(16), out=wide)
    return single
