"""Lists stores of schema 1, which this project wrote without h5py: through libhdf5, until the next release.

Everything here is low-level h5py: it follows no unexpected link, and trusts no size that the file cannot hold. It runs
in a process of its own (``apart``) and says where everything lies; whoever asked reads the bytes there.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from h5py import h5a, h5d, h5f, h5fd, h5g, h5l, h5o, h5p, h5t, h5z

from harness.errors import StoreError, first_line
from harness.store.layout.contents import check_schema
from harness.store.layout.objects import MAX_RATIO, proportionate
from harness.store.layout.schema import FORMAT, INDEX_DTYPE, MAX_ATTRIBUTE, RESERVED, unescape
from harness.store.located import DAMAGE

#: Depth of nested groups; no store nests artefacts deeper.
_MAX_DEPTH = 64
_FILTERS = (h5z.FILTER_SHUFFLE, h5z.FILTER_DEFLATE)


#: What something is, in JSON values; ``{"error": text}`` where it cannot be read.
Listed = dict[str, Any]


class _Reader:
    """The file that libhdf5 reads: an open descriptor, and nothing that could be written."""

    def __init__(self, descriptor: int, size: int) -> None:
        self._descriptor, self._size, self._at = descriptor, size, 0

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset if whence == 0 else self._size + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        got = os.pread(self._descriptor, len(view), self._at)
        view[:] = got.ljust(len(view), b"\0")
        self._at += len(view)
        return len(view)

    def write(self, data: Any) -> int:
        raise OSError("it is open for reading")

    def truncate(self, size: int) -> None:
        """Leaves the file as it is."""

    def flush(self) -> None:
        """Does nothing."""


def listing(descriptor: int, size: int) -> Listed:
    """What a store holds, and where.

    Args:
        descriptor: of the open file.
        size: of the file in bytes.

    Returns:
        ``network``, ``schema``, ``compression``, ``runs`` (a list of backend, mode and a run) and ``objects`` by
        digest. A run has ``level``, ``checksum``, ``attrs``, ``index``, ``names`` and ``texts`` by name. What lies
        somewhere is ``[offset, stored size, packed, dtype, shape]``.

    Raises:
        StoreError: it is not a store.
    """
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_fclose_degree(h5f.CLOSE_STRONG)
    access.set_fileobj_driver(h5fd.fileobj_driver, _Reader(descriptor, size))
    try:
        file = h5f.open(b"store", h5f.ACC_RDONLY, fapl=access)
    except OSError as error:
        raise StoreError(f"not a complete HDF5 file ({first_line(error)})") from None
    root = h5g.open(file, b"/")
    if _text(root, b"format") != FORMAT:
        raise StoreError(f"this HDF5 file is not a golden store (its attribute 'format' is not {FORMAT!r})")
    found = {"schema": check_schema(_number(root, b"schema")), "network": _text(root, b"network")}
    return found | {
        "compression": _tried(lambda: _text(root, b"compression")),
        "runs": _tried(lambda: _runs(root, size)),
        "objects": _tried(lambda: _objects(root, size)),
    }


def _tried(read: Callable[[], Any]) -> Any:
    """What ``read`` gives, or its error: what cannot be read does no harm to whoever does not ask for it."""
    try:
        return read()
    except (StoreError, *DAMAGE) as error:
        return {"error": first_line(error)}


def _runs(root: Any, size: int) -> list[list[Any]]:
    found, runs = [], _follow(root, b"runs")
    for backend in sorted(runs) if runs is not None else ():
        for mode in sorted(_member(runs, backend)):
            group = _member(_member(runs, backend), mode)
            found.append([unescape(backend), unescape(mode), _run(group, size)])
    return found


def _run(group: Any, size: int) -> Listed:
    texts: Any = _tried(lambda: _texts(group))
    if "error" not in texts:
        texts = {name: _tried(lambda at=at: _place(at, size, text=True)) for name, at in texts.items()}  # type: ignore[misc]
    return {name: _tried(lambda name=name: _text(group, name.encode())) for name in ("level", "checksum", "attrs")} | {  # type: ignore[misc]
        "index": _tried(lambda: _table(group, b"index", size, INDEX_DTYPE)),
        "names": _tried(lambda: _table(group, b"names", size)),
        "texts": texts,
    }


def _objects(root: Any, size: int) -> Listed:
    group = _follow(root, b"objects")
    names = sorted(group) if isinstance(group, h5g.GroupID) else ()
    return {
        name.decode("ascii", "replace"): _tried(lambda name=name: _place(_member(group, name), size))  # type: ignore[misc]
        for name in names
    }


def _table(group: Any, name: bytes, size: int, expected: np.dtype[Any] | None = None) -> list[Any]:
    dataset = _follow(group, name)
    if dataset is None:
        raise StoreError(f"{name.decode()}: it is missing")
    try:
        found = _place(dataset, size, expected, text=expected is not None)
    except StoreError as error:
        raise StoreError(f"{name.decode()}: {error}") from None
    if expected is None and (not found[3].startswith("|S") or len(found[4]) != 1):
        raise StoreError("names: it is not a table of strings")
    return found


def _texts(group: Any) -> dict[str, Any]:
    """Datasets of texts by name."""
    found: dict[str, Any] = {}
    stack: list[tuple[bytes, ...]] = [
        (name,) for name in sorted(group) if name.decode("utf-8", "replace") not in RESERVED
    ]
    while stack:
        path = stack.pop()
        member = _follow(group, b"/".join(path))
        if not isinstance(member, h5g.GroupID):
            found["/".join(map(unescape, path))] = member
        elif len(path) > _MAX_DEPTH:
            raise StoreError(f"{b'/'.join(path[:3])!r} lies more than {_MAX_DEPTH} groups deep")
        else:
            stack += [(*path, name) for name in member]
    return dict(sorted(found.items()))


def _place(dataset: Any, size: int, expected: np.dtype[Any] | None = None, *, text: bool = False) -> list[Any]:
    """Where a dataset (a text, if so) lies; ``StoreError`` for another type or layout, or impossible sizes."""
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
        return [0, 0, False, dtype.str, list(shape)]
    at, stored, packed = _bytes(dataset, plist, shape, nbytes, text=text or expected is not None)
    if at + stored > size:
        raise StoreError(f"its {stored} bytes at {at} lie beyond the end of the file ({size} bytes)")
    return [at, stored, packed, dtype.str, list(shape)]


def _bytes(dataset: Any, plist: Any, shape: tuple[int, ...], nbytes: int, text: bool) -> tuple[int, int, bool]:
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
