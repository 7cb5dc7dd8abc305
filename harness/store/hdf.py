"""Reading HDF5, as far as a golden store uses it.

Everything here is low-level h5py: several times faster than the friendly layer, and it follows no link unasked.
"""

from __future__ import annotations

import os
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from h5py import h5a, h5d, h5f, h5g, h5l, h5o, h5p, h5t, h5z

from harness.errors import StoreError, first_line
from harness.store.arrays import MAX_RATIO, Stored, fetch
from harness.store.h5write.types import datatype
from harness.store.schema import MAX_ATTRIBUTE

Array = np.ndarray[Any, np.dtype[Any]]


def _file_access() -> Any:
    plist = h5p.create(h5p.FILE_ACCESS)
    plist.set_fclose_degree(h5f.CLOSE_STRONG)
    # Stores are replaced whole, never changed in place, so that readers need no lock (and read-only media work).
    plist.set_file_locking(False, True)
    return plist


_ACCESS = _file_access()
_FILTERS = (h5z.FILTER_SHUFFLE, h5z.FILTER_DEFLATE)


def open_file(path: Path, opened: str | os.PathLike[str]) -> Any:
    """The HDF5 file ``opened`` for reading, which ``StoreError`` calls ``path``."""
    try:
        return h5f.open(os.fsencode(opened), h5f.ACC_RDONLY, fapl=_ACCESS)
    except OSError as error:
        raise StoreError(f"{path}: not a whole HDF5 file ({first_line(error)})") from None


# --- groups and links -----------------------------------------------------------------------------------------------


def names_of(group: Any) -> list[bytes]:
    """Names of all links of a group, sorted."""
    return sorted(group)


def root_of(file: Any) -> Any:
    """The root group of a file."""
    return h5g.open(file, b"/")


def is_group(thing: Any) -> bool:
    """Whether ``thing`` is a group (else it is a dataset)."""
    return isinstance(thing, h5g.GroupID)


def open_group(parent: Any, path: bytes) -> Any | None:
    """The group at ``path`` below ``parent``, or None if there is none; ``StoreError`` if it is something else."""
    group = _follow(parent, path)
    if group is not None and not is_group(group):
        raise StoreError(f"{path!r} should be a group")
    return group


def open_dataset(parent: Any, path: bytes) -> Any | None:
    """The dataset at ``path`` below ``parent``, or None if there is none; ``StoreError`` if it is something else."""
    dataset = _follow(parent, path)
    if dataset is not None and is_group(dataset):
        raise StoreError(f"{path!r} should be a dataset")
    return dataset


def open_member(group: Any, name: bytes) -> Any:
    """The group or dataset a hard link leads to.

    Raises:
        StoreError: the link is soft or external, which could lead out of the file, or leads to something else.
    """
    if group.links.get_info(name).type != h5l.TYPE_HARD:
        raise StoreError(f"{name!r} is a soft or external link; a golden store has none")
    try:
        member = h5o.open(group, name)
    except (KeyError, OSError, RuntimeError, ValueError) as error:
        raise StoreError(f"{name!r} cannot be opened ({first_line(error)})") from None
    if not isinstance(member, h5g.GroupID | h5d.DatasetID):
        raise StoreError(f"{name!r} is neither a group nor a dataset")
    return member


def _follow(parent: Any, path: bytes) -> Any | None:
    for name in path.split(b"/"):
        if not is_group(parent):
            raise StoreError(f"{path!r}: what should hold {name!r} is no group")
        if not parent.links.exists(name):
            return None
        parent = open_member(parent, name)
    return parent


# --- attributes -----------------------------------------------------------------------------------------------------


def read_text_attribute(owner: Any, name: bytes) -> str:
    """A text attribute of fixed length; ``StoreError`` if it is missing or anything else."""
    attribute, kind = _attribute(owner, name, h5t.STRING)
    raw = np.empty((), f"S{kind.get_size()}")
    attribute.read(raw, mtype=kind)
    try:
        return bytes(raw[()]).decode()
    except UnicodeDecodeError as error:
        raise StoreError(f"the attribute {name.decode()!r} is no UTF-8 text: {error}") from None


def read_int_attribute(owner: Any, name: bytes) -> int:
    """An integer attribute; ``StoreError`` if it is missing or anything else."""
    attribute, _ = _attribute(owner, name, h5t.INTEGER)
    value = np.empty((), np.int64)
    attribute.read(value, mtype=h5t.NATIVE_INT64)
    return int(value)


def _attribute(owner: Any, name: bytes, kind: int) -> tuple[Any, Any]:
    """A scalar attribute and its type, of the class ``kind`` and a possible size."""
    if not h5a.exists(owner, name):
        raise StoreError(f"the attribute {name.decode()!r} is missing")
    attribute = h5a.open(owner, name)
    found = attribute.get_type()
    fits = attribute.shape == () and found.get_class() == kind and found.get_size() <= MAX_ATTRIBUTE
    if not fits or (kind == h5t.STRING and found.is_variable_str()):
        raise StoreError(f"the attribute {name.decode()!r} is of an unexpected type or shape")
    return attribute, found


def type_of(dtype: np.dtype[Any]) -> Any:
    """The HDF5 type a numpy dtype is stored as."""
    # The two bytes are libhdf5's own prefix of an encoded datatype.
    return h5t.decode(b"\x03\x00" + datatype(dtype))


# --- datasets --------------------------------------------------------------------------------------------------------


def read(dataset: Any, descriptor: int, file_size: int, expected: np.dtype[Any] | None = None) -> Stored:
    """What ``arrays.write`` wrote.

    Args:
        dataset: from ``open_dataset``.
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
    return Stored(dtype, shape, fetch(descriptor, size, at), packed)


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


_type_of = cache(type_of)


def _only_chunk(dataset: Any, shape: tuple[int, ...], nbytes: int) -> tuple[int, int, bool]:
    plist = dataset.get_create_plist()
    filters = tuple(plist.get_filter(at)[0] for at in range(plist.get_nfilters()))
    if filters != _FILTERS or plist.get_chunk() != shape or dataset.get_num_chunks() != 1:
        raise StoreError("it is chunked in a way a golden store never uses")
    chunk = dataset.get_chunk_info(0)
    if chunk.filter_mask or chunk.byte_offset is None or nbytes > MAX_RATIO * chunk.size + MAX_RATIO:
        raise StoreError(f"its chunk of {chunk.size} bytes cannot hold {nbytes}")
    return chunk.byte_offset, chunk.size, True
