"""Tensors as objects of a store."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import DtypeError, StoreError
from harness.stats.digest import as_bytes
from harness.store import arrays
from harness.store.arrays import Stored
from harness.store.h5write import Dataset, FileWriter
from harness.store.packing import pack
from harness.store.schema import Compression

Array = np.ndarray[Any, np.dtype[Any]]

#: Attribute of objects whose elements HDF5 has no type for: the dtype's name.
DTYPE_ATTRIBUTE = "dtype"


def stored_dtype(dtype_name: str) -> np.dtype[Any]:
    """The little-endian numpy dtype a MindSpore dtype is stored as: bfloat16, and what else numpy has no type of
    its own for, as its words."""
    try:
        dtype = dtypes.by_name(dtype_name)
    except DtypeError as error:
        raise StoreError(str(error)) from None
    own = dtype.numpy.isbuiltin == 1
    return dtype.numpy.newbyteorder("<") if own else np.dtype(f"<u{dtype.itemsize}")


def to_stored(array: Array, dtype_name: str, compression: Compression) -> Stored:
    """An array as it will lie in the file; compressed where asked for and where it pays."""
    dtype, raw = stored_dtype(dtype_name), as_bytes(array)
    if compression == "gzip" and arrays.can_pack(array.shape, raw.size):
        packed = pack(raw, dtype.itemsize)
        if packed is not None:
            return Stored(dtype, array.shape, packed, packed=True)
    return Stored(dtype, array.shape, raw, packed=False)


def from_stored(stored: Stored, dtype_name: str, shape: tuple[int, ...]) -> Array:
    """The tensor an object holds; ``StoreError`` if it is not of that dtype and shape."""
    wanted = stored_dtype(dtype_name)
    if stored.dtype != wanted or stored.shape != shape:
        raise StoreError(
            f"the index says {dtype_name}{list(shape)}, but stored is an array of {stored.dtype}{list(stored.shape)}"
        )
    raw = stored.unpacked()
    if raw.size != prod(shape) * wanted.itemsize:
        raise StoreError(f"{raw.size} bytes are stored where {dtype_name}{list(shape)} needs another number")
    return raw.view(dtypes.by_name(dtype_name).numpy).reshape(shape)


def write_object(file: FileWriter, stored: Stored, dtype_name: str) -> Dataset:
    """Writes an object to a new file; it still has to be linked."""
    return named_object(arrays.write(file, stored), dtype_name)


def named_object(dataset: Dataset, dtype_name: str) -> Dataset:
    """``dataset`` with the attribute that names a dtype HDF5 has no type for."""
    if stored_dtype(dtype_name) != dtypes.by_name(dtype_name).numpy:
        dataset.set_text(DTYPE_ATTRIBUTE, dtype_name)
    return dataset
