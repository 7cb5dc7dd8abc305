"""HDF5, as far as a golden store uses it: pinned to one file version, without times, without surprises.

Everything here is low-level h5py: it is several times faster than the friendly layer and leaves nothing to defaults
that change between releases.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from h5py import h5a, h5d, h5f, h5fd, h5g, h5l, h5o, h5p, h5s, h5t

from harness.errors import StoreError
from harness.store.schema import MAX_ATTRIBUTE
from harness.store.sink import Sink

Array = np.ndarray[Any, np.dtype[Any]]


def _file_access(sink: Sink | None = None) -> Any:
    plist = h5p.create(h5p.FILE_ACCESS)
    # The oldest file version with compact groups; every HDF5 since 1.10 reads it.
    plist.set_libver_bounds(h5f.LIBVER_V110, h5f.LIBVER_V110)
    plist.set_fclose_degree(h5f.CLOSE_STRONG)
    # Stores are replaced whole, never changed in place, so that readers need no lock (and read-only media work).
    plist.set_file_locking(False, True)
    if sink is not None:
        plist.set_fileobj_driver(h5fd.fileobj_driver, sink)
    return plist


def _without_times(kind: Any) -> Any:
    plist = h5p.create(kind)
    plist.set_obj_track_times(False)
    return plist


_ACCESS = _file_access()
_FILE = _without_times(h5p.FILE_CREATE)
_GROUP = _without_times(h5p.GROUP_CREATE)


def create_file(sink: Sink) -> Any:
    """A new, empty HDF5 file, whose bytes will depend on nothing but what is written to it."""
    return h5f.create(b"%x" % id(sink), h5f.ACC_TRUNC, fcpl=_FILE, fapl=_file_access(sink))


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


def create_group(parent: Any, name: bytes) -> Any:
    """A new group ``name`` in ``parent``."""
    return h5g.create(parent, name, gcpl=_GROUP)


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

_SCALAR = h5s.create(h5s.SCALAR)


def write_text_attribute(owner: Any, name: bytes, text: str) -> None:
    """A fixed-length UTF-8 attribute; ``StoreError`` if it is too long."""
    raw = text.encode()
    if len(raw) > MAX_ATTRIBUTE:
        raise StoreError(f"the attribute {name.decode()!r} would take {len(raw)} bytes; at most {MAX_ATTRIBUTE} fit")
    size = max(len(raw), 1)
    text = _text_type(size)
    h5a.create(owner, name, text, _SCALAR).write(np.array(raw, f"S{size}"), mtype=text)


def write_int_attribute(owner: Any, name: bytes, value: int) -> None:
    """A 64-bit attribute."""
    h5a.create(owner, name, h5t.STD_I64LE, _SCALAR).write(np.array(value, "<i8"))


def read_text_attribute(owner: Any, name: bytes) -> str:
    """What ``write_text_attribute`` wrote; ``StoreError`` if it is missing or anything else."""
    attribute, kind = _attribute(owner, name, h5t.STRING)
    raw = np.empty((), f"S{kind.get_size()}")
    attribute.read(raw, mtype=kind)
    try:
        return bytes(raw[()]).decode()
    except UnicodeDecodeError as error:
        raise StoreError(f"the attribute {name.decode()!r} is no UTF-8 text: {error}") from None


def read_int_attribute(owner: Any, name: bytes) -> int:
    """What ``write_int_attribute`` wrote; ``StoreError`` if it is missing or anything else."""
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


def _text_type(size: int) -> Any:
    text = h5t.C_S1.copy()
    text.set_size(size)
    text.set_cset(h5t.CSET_UTF8)
    text.set_strpad(h5t.STR_NULLPAD)
    return text


def file_type(dtype: np.dtype[Any], *, utf8: bool = False) -> Any:
    """The HDF5 type a numpy dtype is stored as: little-endian; complex as ``{r, i}``, bool as an enumeration.

    Args:
        dtype: numpy dtype; of kind ``S`` for texts.
        utf8: mark a text as UTF-8.
    """
    if dtype.kind == "S":
        text = _text_type(dtype.itemsize)
        text.set_cset(h5t.CSET_UTF8 if utf8 else h5t.CSET_ASCII)
        return text
    if dtype.kind == "c":
        # Spelled out: newer HDF5 has a complex type of its own, which older ones cannot read.
        part = h5t.IEEE_F32LE if dtype.itemsize == 8 else h5t.IEEE_F64LE
        pair = h5t.create(h5t.COMPOUND, dtype.itemsize)
        pair.insert(b"r", 0, part)
        pair.insert(b"i", dtype.itemsize // 2, part)
        return pair
    return h5t.py_create(dtype.newbyteorder("<"), logical=True)
