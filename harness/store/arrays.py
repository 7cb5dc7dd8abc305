"""Arrays in and out of HDF5 datasets, in two layouts: contiguous, or one compressed chunk.

Reading bypasses HDF5's data path: a dataset says where its bytes lie, and they are read from there. Nothing is
allocated before the sizes are known to be possible.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

import numpy as np
from h5py import h5d, h5z

from harness.errors import StoreError
from harness.store import hdf
from harness.store.h5write import Dataset, FileWriter
from harness.store.packing import DEFLATE_LEVEL, unpack

Array = np.ndarray[Any, np.dtype[Any]]

#: Deflate cannot shrink by more than 1032:1, so a chunk that claims more is damaged.
_MAX_RATIO = 1032

_FILTERS = (h5z.FILTER_SHUFFLE, h5z.FILTER_DEFLATE)


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


def read(dataset: Any, descriptor: int, file_size: int, expected: np.dtype[Any] | None = None) -> Stored:
    """What ``write`` wrote.

    Args:
        dataset: from ``hdf.open_dataset``.
        descriptor: of the open file, to read from.
        file_size: of that file in bytes.
        expected: the dtype it must have, where the caller knows (comparing types is faster than translating one).

    Raises:
        StoreError: another type or layout, sizes the file cannot hold, or too few bytes.
    """
    dtype, shape, layout = _described(dataset, expected)
    nbytes = prod(shape) * dtype.itemsize
    if nbytes == 0:
        return Stored(dtype, shape, b"", packed=False)
    if layout == h5d.CONTIGUOUS:
        at, size, packed = dataset.get_offset(), nbytes, False
        if at is None or dataset.get_storage_size() != nbytes:
            raise StoreError(f"its {nbytes} bytes are not in the file")
    else:
        at, size, packed = _only_chunk(dataset, shape, nbytes)
    if at + size > file_size:
        raise StoreError(f"its {size} bytes at {at} lie beyond the end of the file ({file_size} bytes)")
    return Stored(dtype, shape, _read_exactly(descriptor, size, at), packed)


def _described(dataset: Any, expected: np.dtype[Any] | None) -> tuple[np.dtype[Any], tuple[int, ...], int]:
    plist = dataset.get_create_plist()
    layout, shape = plist.get_layout(), dataset.shape
    if expected is None:
        dtype = dataset.dtype
    elif dataset.get_type().equal(_type_of(expected)):
        dtype = expected
    else:
        raise StoreError("it is not of the type this schema version describes")
    if dtype.hasobject or shape is None:
        raise StoreError(f"its type {dtype} is none a golden store uses")
    if layout not in (h5d.CONTIGUOUS, h5d.CHUNKED):
        raise StoreError("it is virtual or compact; a golden store has no such datasets")
    if layout == h5d.CONTIGUOUS and plist.get_external_count():
        raise StoreError("its bytes lie in another file; a golden store has no such datasets")
    return dtype, shape, layout


_type_of = cache(hdf.type_of)


def _only_chunk(dataset: Any, shape: tuple[int, ...], nbytes: int) -> tuple[int, int, bool]:
    plist = dataset.get_create_plist()
    filters = tuple(plist.get_filter(at)[0] for at in range(plist.get_nfilters()))
    if filters != _FILTERS or plist.get_chunk() != shape or dataset.get_num_chunks() != 1:
        raise StoreError("it is chunked in a way a golden store never uses")
    chunk = dataset.get_chunk_info(0)
    if chunk.filter_mask or chunk.byte_offset is None or nbytes > _MAX_RATIO * chunk.size + _MAX_RATIO:
        raise StoreError(f"its chunk of {chunk.size} bytes cannot hold {nbytes}")
    return chunk.byte_offset, chunk.size, True


def _read_exactly(descriptor: int, size: int, at: int) -> Array:
    raw = np.empty(size, np.uint8)
    view, done = raw.data, 0
    while done < size:
        got = os.preadv(descriptor, [view[done:]], at + done)
        if got == 0:
            raise StoreError(f"the file ends {size - done} bytes too early")
        done += got
    return raw
