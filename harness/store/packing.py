"""Single-chunk compression: HDF5's own shuffle and deflate filters, applied by us.

Compressing here rather than inside HDF5 lets a chunk be copied from an older store without touching it (so that its
bytes stay, whatever zlib wrote them), and bounds what a damaged or hostile chunk may inflate to.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from harness.errors import StoreError

Array = np.ndarray[Any, np.dtype[Any]]

#: zlib's level. Dumps are mostly mantissa bits, on which higher levels cost time and gain under 1 %.
DEFLATE_LEVEL = 4

#: Below this size nothing is compressed: a chunk's bookkeeping would eat the gain.
MIN_BYTES = 256


def pack(raw: Array, itemsize: int) -> bytes | None:
    """Shuffled and deflated bytes, or None where that saves less than a tenth.

    Args:
        raw: uint8 [nbytes], C-contiguous.
        itemsize: bytes of one element; ``nbytes`` is a multiple of it.
    """
    if raw.size < MIN_BYTES:
        return None
    packed = zlib.compress(_shuffle(raw, itemsize).data, DEFLATE_LEVEL)
    return packed if len(packed) <= raw.size * 9 // 10 else None


def unpack(packed: bytes, nbytes: int, itemsize: int) -> Array:
    """uint8 [nbytes] of what ``pack`` made; ``StoreError`` if it is anything else."""
    inflater = zlib.decompressobj()
    try:
        # One byte more than allowed, so that a longer stream shows without being inflated.
        raw = inflater.decompress(packed, nbytes + 1)
    except zlib.error as error:
        raise StoreError(f"a compressed chunk is damaged: {error}") from None
    if len(raw) != nbytes or not inflater.eof:
        raise StoreError(f"a compressed chunk does not hold the {nbytes} bytes it should")
    return _unshuffle(np.frombuffer(raw, np.uint8), itemsize)


def _shuffle(raw: Array, itemsize: int) -> Array:
    return np.ascontiguousarray(raw.reshape(-1, itemsize).T) if itemsize > 1 else raw


def _unshuffle(raw: Array, itemsize: int) -> Array:
    return np.ascontiguousarray(raw.reshape(itemsize, -1).T).reshape(-1) if itemsize > 1 else raw
