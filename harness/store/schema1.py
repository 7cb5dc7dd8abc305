"""Stores of schema 1, which this project wrote without h5py: read through libhdf5 until the next release.

Everything here is low-level h5py: it follows no unexpected link, and trusts no size that the file cannot hold.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cached_property
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from h5py import h5a, h5d, h5f, h5g, h5l, h5o, h5p, h5t, h5z

from harness.attributes import checked_attributes
from harness.errors import StoreError, first_line
from harness.store.layout.contents import check_schema
from harness.store.layout.index import Index, checked_index
from harness.store.layout.objects import MAX_RATIO, Stored, fetch, proportionate
from harness.store.layout.schema import (
    COMPRESSIONS,
    FORMAT,
    INDEX_DTYPE,
    LEVELS,
    MAX_ATTRIBUTE,
    RESERVED,
    Compression,
    Level,
    RunId,
    unescape,
)  # fmt: skip

#: Depth of nested groups; no store nests artefacts deeper.
_MAX_DEPTH = 64
_FILTERS = (h5z.FILTER_SHUFFLE, h5z.FILTER_DEFLATE)


def _file_access() -> Any:
    plist = h5p.create(h5p.FILE_ACCESS)
    plist.set_fclose_degree(h5f.CLOSE_STRONG)
    # Stores are replaced whole, never changed in place, so that readers need no lock (and read-only media work).
    plist.set_file_locking(False, True)
    return plist


_ACCESS = _file_access()


class Schema1:
    """An open store of schema 1; see ``read.Source``."""

    schema = 1

    def __init__(self, path: Path, descriptor: int, size: int) -> None:
        self._descriptor, self._size = descriptor, size
        opened = f"/proc/self/fd/{descriptor}"
        try:
            self._file = h5f.open(os.fsencode(opened if os.path.exists(opened) else path), h5f.ACC_RDONLY, fapl=_ACCESS)
        except OSError as error:
            raise StoreError(f"not a complete HDF5 file ({first_line(error)})") from None
        self._root = h5g.open(self._file, b"/")
        if _text(self._root, b"format") != FORMAT:
            raise StoreError(f"this HDF5 file is not a golden store (its attribute 'format' is not {FORMAT!r})")
        check_schema(_number(self._root, b"schema"))
        self.network = _text(self._root, b"network")

    @property
    def compression(self) -> Compression:
        """How objects are stored."""
        found = _text(self._root, b"compression")
        if found not in COMPRESSIONS:
            raise StoreError(f"unknown compression {found!r}; known are {', '.join(COMPRESSIONS)}")
        return found

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def runs(self) -> dict[RunId, Run1]:
        """All runs, sorted."""
        found, runs = {}, _follow(self._root, b"runs")
        for backend in sorted(runs) if runs is not None else ():
            for mode in sorted(_member(runs, backend)):
                group = _member(_member(runs, backend), mode)
                found[RunId(unescape(backend), unescape(mode))] = Run1(self, group)
        return dict(sorted(found.items()))

    def stored_object(self, content: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Stored:
        """The object of that digest."""
        dataset = _follow(self._root, b"objects/" + content.hex().encode())
        if dataset is None:
            raise StoreError("its tensor is missing")
        return self.read(dataset)

    def read(self, dataset: Any, expected: np.dtype[Any] | None = None, *, text: bool = False) -> Stored:
        """The stored form of a dataset (of a text, if so); ``StoreError`` for another type or layout, or impossible
        sizes."""
        if isinstance(dataset, h5g.GroupID):
            raise StoreError("it should be a dataset")
        plist, shape = dataset.get_create_plist(), dataset.shape
        dtype = dataset.dtype
        if expected is not None:
            if dtype.descr != expected.descr:
                raise StoreError("it is not of the type this schema version describes")
            dtype = expected
        if dtype.hasobject or shape is None:
            raise StoreError(f"a golden store never uses its type {dtype}")
        nbytes = prod(shape) * dtype.itemsize
        if nbytes == 0:
            return Stored(dtype, shape, b"", packed=False)
        at, size, packed = _place(dataset, plist, shape, nbytes, text=text or expected is not None)
        if at + size > self._size:
            raise StoreError(f"its {size} bytes at {at} lie beyond the end of the file ({self._size} bytes)")
        return Stored(dtype, shape, fetch(self._descriptor, size, at), packed)


class Run1:
    """A run of a store of schema 1."""

    def __init__(self, store: Schema1, group: Any) -> None:
        self._store, self._group = store, group

    @property
    def level(self) -> Level:
        """``tensors`` or ``digest``."""
        found = _text(self._group, b"level")
        if found not in LEVELS:
            raise StoreError(f"unknown level {found!r}; known are {', '.join(LEVELS)}")
        return found

    @property
    def checksum(self) -> str:
        """As it was written."""
        return _text(self._group, b"checksum")

    @property
    def attrs(self) -> Mapping[str, Any]:
        """JSON values."""
        try:
            attrs = json.loads(_text(self._group, b"attrs"))
        except ValueError as error:
            raise StoreError(f"attrs: not JSON: {error}") from None
        return MappingProxyType(checked_attributes(attrs, StoreError))

    def index(self) -> Index:
        """All slots."""
        names = self._table(b"names")
        if names.dtype.kind != "S" or len(names.shape) != 1:
            raise StoreError("names: it is not a table of strings")
        texts = [raw.decode("utf-8", "surrogateescape") for raw in names.array().tolist()]
        return checked_index(self._table(b"index", INDEX_DTYPE).array(), texts)

    def _table(self, name: bytes, expected: np.dtype[Any] | None = None) -> Stored:
        dataset = _follow(self._group, name)
        if dataset is None:
            raise StoreError(f"{name.decode()}: it is missing")
        try:
            return self._store.read(dataset, expected)
        except StoreError as error:
            raise StoreError(f"{name.decode()}: {error}") from None

    @cached_property
    def _texts(self) -> dict[str, Any]:
        """Datasets of texts by name."""
        found: dict[str, Any] = {}
        stack: list[tuple[bytes, ...]] = [
            (name,) for name in sorted(self._group) if name.decode("utf-8", "replace") not in RESERVED
        ]
        while stack:
            path = stack.pop()
            member = _follow(self._group, b"/".join(path))
            if not isinstance(member, h5g.GroupID):
                found["/".join(map(unescape, path))] = member
            elif len(path) > _MAX_DEPTH:
                raise StoreError(f"{b'/'.join(path[:3])!r} lies more than {_MAX_DEPTH} groups deep")
            else:
                stack += [(*path, name) for name in member]
        return dict(sorted(found.items()))

    def artefact_names(self) -> list[str]:
        """Names of all texts, sorted."""
        return list(self._texts)

    def artefact(self, name: str) -> bytes:
        """A text."""
        return self._store.read(self._texts[name], text=True).unpacked().tobytes()

    def stored_parts(self) -> dict[str, Stored]:
        """Empty: nothing is copied unchanged."""
        return {}


def _place(dataset: Any, plist: Any, shape: tuple[int, ...], nbytes: int, text: bool) -> tuple[int, int, bool]:
    """Where a dataset's bytes lie, how many they are, and whether they are packed."""
    layout = plist.get_layout()
    if layout not in (h5d.CONTIGUOUS, h5d.CHUNKED):
        raise StoreError("it is virtual or compact; a golden store has no such datasets")
    if layout == h5d.CONTIGUOUS:
        if plist.get_external_count():
            raise StoreError("its bytes lie in another file; a golden store has no such datasets")
        if dataset.get_offset() is None or dataset.get_storage_size() != nbytes:
            raise StoreError(f"its {nbytes} bytes are not in the file")
        return dataset.get_offset(), nbytes, False
    filters = tuple(plist.get_filter(at)[0] for at in range(plist.get_nfilters()))
    if filters != _FILTERS or plist.get_chunk() != shape or dataset.get_num_chunks() != 1:
        raise StoreError("it is chunked in a way a golden store never uses")
    chunk = dataset.get_chunk_info(0)
    few = (text or dataset.dtype.kind in "SV") and not proportionate(nbytes, chunk.size)
    if chunk.filter_mask or chunk.byte_offset is None or few or nbytes > MAX_RATIO * chunk.size + MAX_RATIO:
        raise StoreError(f"its chunk of {chunk.size} bytes cannot hold {nbytes}")
    return chunk.byte_offset, chunk.size, True


def _follow(parent: Any, path: bytes) -> Any | None:
    """The group or dataset at ``path``; None if it is missing."""
    for name in path.split(b"/"):
        if not isinstance(parent, h5g.GroupID):
            raise StoreError(f"{path!r}: what should hold {name!r} is not a group")
        if not parent.links.exists(name):
            return None
        parent = _member(parent, name)
    return parent


def _member(group: Any, name: bytes) -> Any:
    """The target of a hard link; ``StoreError`` for other links, which could lead out of the file."""
    if not isinstance(group, h5g.GroupID):
        raise StoreError(f"what should hold {name!r} is not a group")
    if group.links.get_info(name).type != h5l.TYPE_HARD:
        raise StoreError(f"{name!r} is a soft or external link; a golden store has no such links")
    member = h5o.open(group, name)
    if not isinstance(member, h5g.GroupID | h5d.DatasetID):
        raise StoreError(f"{name!r} is neither a group nor a dataset")
    return member


def _text(owner: Any, name: bytes) -> str:
    """A text attribute of fixed length."""
    attribute, kind = _attribute(owner, name, h5t.STRING)
    raw = np.empty((), f"S{kind.get_size()}")
    attribute.read(raw, mtype=kind)
    try:
        return bytes(raw[()]).decode()
    except UnicodeDecodeError as error:
        raise StoreError(f"the attribute {name.decode()!r} is not UTF-8 text: {error}") from None


def _number(owner: Any, name: bytes) -> int:
    """An integer attribute."""
    attribute, _ = _attribute(owner, name, h5t.INTEGER)
    value = np.empty((), np.int64)
    attribute.read(value, mtype=h5t.NATIVE_INT64)
    return int(value)


def _attribute(owner: Any, name: bytes, kind: int) -> tuple[Any, Any]:
    """A scalar attribute and its type, which must be of class ``kind`` and of a possible size."""
    if not h5a.exists(owner, name):
        raise StoreError(f"the attribute {name.decode()!r} is missing")
    attribute = h5a.open(owner, name)
    found = attribute.get_type()
    fits = attribute.shape == () and found.get_class() == kind and found.get_size() <= MAX_ATTRIBUTE
    if not fits or (kind == h5t.STRING and found.is_variable_str()):
        raise StoreError(f"the attribute {name.decode()!r} is of an unexpected type or shape")
    return attribute, found
