"""Reading HDF5, as far as a golden store uses it.

Everything here is low-level h5py: several times faster than the friendly layer, and it follows no link unasked.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from h5py import h5a, h5d, h5f, h5g, h5l, h5o, h5p, h5t

from harness.errors import StoreError
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


def open_file(path: Path) -> Any:
    """An HDF5 file for reading; ``FileNotFoundError`` or ``StoreError``."""
    try:
        return h5f.open(os.fsencode(path), h5f.ACC_RDONLY, fapl=_ACCESS)
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: there is no such golden store") from None
    except OSError as error:
        raise StoreError(f"{path}: not a whole HDF5 file ({first_line(error)})") from None


def first_line(error: BaseException) -> str:
    """The first line of an error's text (HDF5's go on for many), or its type."""
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__


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
