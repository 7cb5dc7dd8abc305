"""A new HDF5 file, made by h5py: arrays first, then the links that lead to them.

h5py writes through ``_Sink``, so that every byte goes out by ``os.pwrite``: an error of the disk is raised once, in the
operating system's own words, after libhdf5 has closed the file (it cannot close a file while writing fails). Versions
of libhdf5 count the user block differently in a chunk's offset; ``_chunk_shift`` asks the one that is loaded.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import xxhash
from h5py import h5a, h5d, h5f, h5fd, h5g, h5p, h5s, h5t

from harness import portable
from harness.store.layout.contents import USER_BLOCK
from harness.store.layout.objects import DEFLATE_LEVEL, Stored

Array = np.ndarray[Any, np.dtype[Any]]

#: Links of a group by name: groups, or the path of what is linked.
Tree = dict[bytes, Any]


class _Sink:
    """The file that libhdf5 writes to. After the first error nothing more is written, and libhdf5 does not learn of the
    error.

    Attributes:
        error: the first error.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._at = 0
        self._size = 0
        self.error: BaseException | None = None

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset if whence == 0 else self._size + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        self.put(data, self._at)
        self._at += size
        return size

    def put(self, data: Any, at: int) -> None:
        """Writes bytes at a place."""
        view = memoryview(data).cast("B")
        self._size = max(self._size, at + len(view))
        try:
            while view and self.error is None:
                done = portable.pwrite(self._descriptor, view, at)
                view, at = view[done:], at + done
        except BaseException as error:  # libhdf5 may be closing the file: it must not learn of an interrupt either
            self.error = error

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        got = portable.preadv(self._descriptor, [view], self._at)
        view[got:] = bytes(len(view) - got)  # what could not be written reads as zeros
        self._at += len(view)
        return len(view)

    def truncate(self, size: int) -> None:
        try:
            self._size = size
            if self.error is None:
                os.ftruncate(self._descriptor, size)
        except BaseException as error:  # likewise
            self.error = error

    def flush(self) -> None:
        """Does nothing: the code that replaces the old file waits for the disk."""


class H5File:
    """Fills a new file; use it in a ``with`` statement.

    Raises:
        OSError: the file cannot be made or written.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | portable.BYTES, 0o666)
        try:
            self._sink = _Sink(self._descriptor)
            # libhdf5 may open only one file of a name.
            name = b"msdump %d" % id(self._sink)
            self._file = h5f.create(name, h5f.ACC_TRUNC, fcpl=_CREATION, fapl=_access(self._sink))
        except BaseException:
            os.close(self._descriptor)
            raise
        self._group_paths: dict[bytes, bytes] = {}
        self._owner: tuple[bytes, Any] = (b"", None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._file.valid:
                self._file.close()
        finally:
            os.close(self._descriptor)
        if error is None:
            self.raise_for_disk()

    def raise_for_disk(self) -> None:
        """Raises the error of the disk, if there was one."""
        if self._sink.error is not None:
            raise self._sink.error

    def finish(self, user_block: Any) -> None:
        """Completes the file; ``user_block`` is called with its size and gives its first bytes."""
        self._file.close()
        self.raise_for_disk()
        self._sink.put(user_block(os.fstat(self._descriptor).st_size), 0)

    # --- arrays -----------------------------------------------------------------------------------------------------

    def add(self, path: bytes, stored: Stored, *, utf8: bool = False, note: Mapping[str, str] | None = None) -> int:
        """Writes an array at ``path``; returns the offset of its bytes in the file.

        Args:
            path: the groups in it must be there.
            stored: the array.
            utf8: mark strings as UTF-8.
            note: text attributes.
        """
        dataset = self._dataset(path, stored.dtype, stored.shape, stored.packed, utf8)
        for name, text in (note or {}).items():
            _set(dataset, name, text)
        raw = np.frombuffer(stored.raw, np.uint8).data
        if not raw.nbytes:
            return 0
        if not stored.packed:
            at = int(dataset.get_offset())
            self._sink.put(raw, at)
        else:
            dataset.write_direct_chunk((0,) * len(stored.shape), bytes(raw))
            at = int(dataset.get_chunk_info(0).byte_offset) + _chunk_shift()
        self.raise_for_disk()
        return at

    def begin(self, path: bytes, dtype: np.dtype[Any], shape: tuple[int, ...], note: Mapping[str, str]) -> int:
        """Makes an array at ``path`` whose bytes follow through ``put``; returns their offset."""
        dataset = self._dataset(path, dtype, shape, False, False)
        for name, text in note.items():
            _set(dataset, name, text)
        return int(dataset.get_offset()) if 0 not in shape else 0

    def put(self, raw: Any, at: int) -> None:
        """Writes bytes of an array that was begun."""
        self._sink.put(raw, at)
        self.raise_for_disk()

    def _dataset(self, path: bytes, dtype: np.dtype[Any], shape: tuple[int, ...], packed: bool, utf8: bool) -> Any:
        space = h5s.create_simple(shape) if shape else _SCALAR
        creation = _packed(shape) if packed else _PLAIN
        return h5d.create(self._file, path, _type(dtype, utf8), space, dcpl=creation)

    # --- groups, links, attributes ----------------------------------------------------------------------------------

    def group(self, path: bytes) -> None:
        """Makes a group in an existing parent."""
        h5g.create(self._file, path, gcpl=_GROUP)

    def has_group(self, path: bytes) -> bool:
        """Whether there is a group at ``path``; its parent must exist."""
        return bool(path in self._file)

    def link(self, path: bytes, target: bytes) -> None:
        """Another name for what is at ``target``."""
        self._file.links.create_hard(path, self._file, target)

    def tree(self, path: bytes, tree: Tree) -> None:
        """Makes a group, unless it is there, and everything below it; groups below it with equal links become one group
        with several names."""
        keys = _keys(tree)
        stack: list[tuple[bytes, Tree]] = [(path, tree)]
        while stack:
            here, links = stack.pop()
            known = self._group_paths.get(keys[id(links)])
            if known is not None and here != path:
                self.link(here, known)
                continue
            if here != path:
                self._group_paths[keys[id(links)]] = here
            if here != path or not self.has_group(here):
                self.group(here)
            for name in sorted(links):
                if not isinstance(links[name], dict):
                    self.link(here + b"/" + name, links[name])
            below = [(here + b"/" + name, links[name]) for name in sorted(links) if isinstance(links[name], dict)]
            stack += reversed(below)

    def set(self, path: bytes, name: str, value: str | int) -> None:
        """Adds an attribute: a UTF-8 string as long as the text, or a 64-bit integer."""
        if path != self._owner[0]:
            self._owner = path, h5g.open(self._file, path)
        _set(self._owner[1], name, value)


def _keys(tree: Tree) -> dict[int, bytes]:
    """For each group of a tree, by id, a digest of its links. The ids are valid while the tree is kept."""
    groups: list[Tree] = [tree]
    for each in groups:  # parents before those below them
        groups += [below for below in each.values() if isinstance(below, dict)]
    keys: dict[int, bytes] = {}
    for each in reversed(groups):
        parts = []
        for name, at in sorted(each.items()):
            kind, text = (b"group", keys[id(at)]) if isinstance(at, dict) else (b"array", at)
            parts.append(b"%d %s %s %d %s" % (len(name), name, kind, len(text), text))
        keys[id(each)] = xxhash.xxh3_128_digest(b"".join(parts))
    return keys


# --- property lists -------------------------------------------------------------------------------------------------


def _access(sink: _Sink) -> Any:
    plist = h5p.create(h5p.FILE_ACCESS)
    plist.set_fclose_degree(h5f.CLOSE_STRONG)
    # Every libhdf5 since 1.10 reads it. A lower bound of 1.8 would give the same bytes under h5py 3.11 and 3.16, and
    # larger files (this project's goldens: by a tenth); ``write`` keeps a file whose contents did not change.
    plist.set_libver_bounds(h5f.LIBVER_V110, h5f.LIBVER_V110)
    plist.set_fileobj_driver(h5fd.fileobj_driver, sink)
    return plist


def _creation() -> Any:
    plist = h5p.create(h5p.FILE_CREATE)
    plist.set_userblock(USER_BLOCK)
    plist.set_obj_track_times(False)  # of the root group
    return plist


def _dataset_creation() -> Any:
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_obj_track_times(False)
    plist.set_fill_time(h5d.FILL_TIME_NEVER)
    return plist


def _plain() -> Any:
    plist = _dataset_creation()
    plist.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    return plist


def _packed(shape: tuple[int, ...]) -> Any:
    plist = _dataset_creation()
    plist.set_chunk(shape)
    plist.set_shuffle()
    plist.set_deflate(DEFLATE_LEVEL)
    return plist


def _group_creation() -> Any:
    plist = h5p.create(h5p.GROUP_CREATE)
    plist.set_obj_track_times(False)
    return plist


_CREATION, _PLAIN, _GROUP, _SCALAR = _creation(), _plain(), _group_creation(), h5s.create(h5s.SCALAR)


@cache
def _chunk_shift() -> int:
    """What must be added to a chunk's offset, for the user block."""
    mark, memory = b"\x93msdump probe\x93", io.BytesIO()
    plist = h5p.create(h5p.FILE_ACCESS)
    plist.set_fileobj_driver(h5fd.fileobj_driver, memory)
    file = h5f.create(b"msdump probe", h5f.ACC_TRUNC, fcpl=_CREATION, fapl=plist)
    dataset = h5d.create(file, b"a", h5t.STD_U8LE, h5s.create_simple((8,)), dcpl=_packed((8,)))
    dataset.write_direct_chunk((0,), mark)
    offset = int(dataset.get_chunk_info(0).byte_offset)
    del dataset
    file.close()
    return memory.getvalue().find(mark) - offset


# --- types and attributes -------------------------------------------------------------------------------------------


def _type(dtype: np.dtype[Any], utf8: bool) -> Any:
    if dtype.kind == "S":
        return _text(dtype.itemsize, utf8)
    return _known_type(dtype.str if dtype.names is None else id(dtype), dtype)


_types: dict[Any, tuple[np.dtype[Any], Any]] = {}


def _known_type(key: Any, dtype: np.dtype[Any]) -> Any:
    # Equal dtypes may differ in metadata, so those with fields go by identity; the entry keeps them alive.
    if key not in _types:
        _types[key] = dtype, h5t.py_create(dtype, logical=True)
    return _types[key][1]


@lru_cache(maxsize=256)
def _text(size: int, utf8: bool) -> Any:
    kind = h5t.C_S1.copy()
    kind.set_size(size)
    kind.set_strpad(h5t.STR_NULLPAD)
    kind.set_cset(h5t.CSET_UTF8 if utf8 else h5t.CSET_ASCII)
    return kind


def _set(owner: Any, name: str, value: str | int) -> None:
    if isinstance(value, int):
        kind, raw = h5t.STD_I64LE, np.array(value, "<i8")
    else:
        text = value.encode() or b"\0"
        kind, raw = _text(len(text), True), np.array(text, f"S{len(text)}")
    attribute = h5a.create(owner, name.encode(), kind, _SCALAR)
    attribute.write(raw, mtype=kind)
