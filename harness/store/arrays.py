"""Arrays in and out of HDF5 datasets, in two layouts: contiguous, or one compressed chunk.

Reading bypasses HDF5's data path: a dataset says where its bytes lie, and they are read from there (``hdf.read``, and
``h5read`` without libhdf5). Nothing is allocated before the sizes are known to be possible.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from harness.errors import StoreError
from harness.store.h5write import Dataset, FileWriter
from harness.store.packing import DEFLATE_LEVEL, unpack

Array = np.ndarray[Any, np.dtype[Any]]

#: Deflate cannot shrink by more than 1032:1, so a chunk that claims more is damaged.
MAX_RATIO = 1032


@dataclass(frozen=True, slots=True)
class Stored:
    """An array as it lies in a file.

    Attributes:
        dtype: numpy dtype of the stored elements, little-endian (bfloat16 is uint16 here).
        shape: of the array.
        raw: uint8, the elements' bytes in C order, or the chunk's if ``packed``.
        packed: whether ``raw`` is shuffled and deflated.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    raw: Array | bytes
    packed: bool

    def unpacked(self) -> Array:
        """The elements' bytes: uint8 [nbytes]."""
        if not self.packed:
            return np.frombuffer(self.raw, np.uint8)
        return unpack(bytes(self.raw), prod(self.shape) * self.dtype.itemsize, self.dtype.itemsize)

    def array(self) -> Array:
        """The array itself, little-endian."""
        return self.unpacked().view(self.dtype).reshape(self.shape)


def write(file: FileWriter, stored: Stored, *, utf8: bool = False) -> Dataset:
    """Writes an array to a new file; the dataset still has to be linked."""
    if stored.packed:
        return file.packed(stored.dtype, stored.shape, stored.raw, DEFLATE_LEVEL, utf8=utf8)
    return file.contiguous(stored.dtype, stored.shape, stored.raw, utf8=utf8)


def can_pack(shape: tuple[int, ...], nbytes: int) -> bool:
    """Whether HDF5 can hold such an array as one chunk (it needs a dimension, and less than 4 GiB)."""
    return bool(shape) and 0 < nbytes < 2**32 - 1


def fetch(descriptor: int, size: int, at: int) -> Array:
    """``size`` bytes at ``at`` of an open file: uint8 [size]; ``StoreError`` if it ends before."""
    raw = np.empty(size, np.uint8)
    view, done = raw.data, 0
    while done < size:
        got = os.preadv(descriptor, [view[done:]], at + done)
        if got == 0:
            raise StoreError(f"the file ends {size - done} bytes too early")
        done += got
    return raw
