"""Looks at the structure of an HDF5 file before libhdf5 does: what leads out of the file, or to code, is refused.

Stores of schema 1 use little of HDF5: object headers of version 2, links and attributes within them, contiguous arrays,
arrays of one chunk under shuffle and deflate. Every header that the root leads to is read here, and what is not on the
list ends the reading: links other than hard ones, arrays whose bytes lie in other files or that other arrays make up,
filters of plugins, heaps and trees, messages that are shared or not known.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from harness.errors import StoreError

_UNDEFINED = b"\xff" * 8
#: Messages that stores have: nothing, dataspace, link info, datatype, fill values, link, layout, group info, filters,
#: attribute, continuation, time, attribute info, number of references.
_LINK_INFO, _LINK, _EXTERNAL, _LAYOUT, _FILTERS, _CONTINUATION, _ATTRIBUTE_INFO = 2, 6, 7, 8, 11, 16, 21
_KNOWN = frozenset(
    {0, 1, _LINK_INFO, 3, 4, 5, _LINK, _LAYOUT, 10, _FILTERS, 12, _CONTINUATION, 18, _ATTRIBUTE_INFO, 22}
)
_SHARED = 2
_DEFLATE, _SHUFFLE = 1, 2
_VIRTUAL = 3
#: So many bytes of headers are read for each byte of the file; a header goes on so many times.
_OFTEN, _CONTINUED = 4, 1 << 16


class _Message(NamedTuple):
    kind: int
    flags: int
    body: bytes


def refuse_odd_structure(descriptor: int, size: int) -> None:
    """Looks at every header of an HDF5 file.

    Args:
        descriptor: of the open file.
        size: of the file in bytes.

    Raises:
        StoreError: the file has something that no golden store has, or its structure is damaged.
    """
    root = _root(os.pread(descriptor, 48, 0), size)
    room, known, waiting = _OFTEN * size + (1 << 20), {root}, [root]
    while waiting:
        at = waiting.pop()
        for message in _messages(descriptor, at, size):
            room -= len(message.body) + 8
            if room < 0:
                raise StoreError("its HDF5 headers lie in one another")
            below = _judged(message)
            if below is not None and below not in known:
                known.add(below)
                waiting.append(below)


def _root(head: bytes, size: int) -> int:
    """Where the header of the root group lies."""
    if len(head) < 48:
        raise StoreError(f"not a complete HDF5 file: it has {size} bytes")
    version = head[8]
    if version not in (2, 3):
        raise StoreError(f"its HDF5 superblock is of version {version}; that of a golden store is of version 2")
    if head[9:11] != b"\x08\x08" or head[12:20] != bytes(8) or head[20:28] != _UNDEFINED:
        raise StoreError("its HDF5 superblock is not that of a golden store")
    end, root = (int.from_bytes(head[at : at + 8], "little") for at in (28, 36))
    if end > size:
        raise StoreError(f"not a complete HDF5 file: it should have {end} bytes, but has {size}")
    return root


def _messages(descriptor: int, at: int, size: int) -> Iterator[_Message]:
    """The messages of the header at this offset, and of the blocks that continue it."""
    head = _read(descriptor, at, 16, size)
    if head[:5] != b"OHDR\x02":
        raise StoreError(f"there is no HDF5 header of version 2 at {at}")
    flags = head[5]
    start = 6 + 16 * bool(flags & 0x20) + 4 * bool(flags & 0x10)
    width = 1 << (flags & 3)
    length = int.from_bytes(_read(descriptor, at + start, width, size), "little")
    blocks = [(at + start + width, length)]
    for met, (begin, count) in enumerate(blocks):
        if met > _CONTINUED:
            raise StoreError(f"the HDF5 header at {at} goes on without end")
        for message in _split(_read(descriptor, begin, count, size), 6 if flags & 4 else 4):
            yield message
            if message.kind == _CONTINUATION:
                place, count = (int.from_bytes(message.body[k : k + 8], "little") for k in (0, 8))
                if _read(descriptor, place, 4, size) != b"OCHK" or count < 8:
                    raise StoreError(f"the HDF5 header at {at} goes on at {place}, where no part of a header is")
                blocks.append((place + 4, count - 8))


def _read(descriptor: int, at: int, count: int, size: int) -> bytes:
    if at + count > size:
        raise StoreError(f"an HDF5 header of {count} bytes at {at} lies beyond the end of the file")
    found = os.pread(descriptor, count, at)
    if len(found) != count:
        raise StoreError("the file became shorter while it was read")
    return found


def _split(raw: bytes, lead: int) -> Iterator[_Message]:
    at = 0
    while at + lead <= len(raw):
        kind, count, flags = raw[at], int.from_bytes(raw[at + 1 : at + 3], "little"), raw[at + 3]
        body = raw[at + lead : at + lead + count]
        if len(body) != count:
            raise StoreError("an HDF5 message is longer than its header")
        yield _Message(kind, flags, body)
        at += lead + count


def _judged(message: _Message) -> int | None:
    """Where a link leads; None for other messages. ``StoreError`` for what no golden store has."""
    kind, flags, body = message
    if kind == _EXTERNAL:
        raise StoreError("an array's bytes lie in another file; a golden store has no such arrays")
    if kind not in _KNOWN:
        raise StoreError(f"it has an HDF5 message of kind {kind}; a golden store has none")
    if flags & _SHARED:
        raise StoreError("parts of its headers are shared; a golden store shares none")
    if kind == _LINK:
        return _target(body)
    if kind == _FILTERS:
        _refuse_filters(body)
    if kind == _LAYOUT and len(body) > 1 and body[0] >= 3 and body[1] == _VIRTUAL:
        raise StoreError("an array is virtual, made of others; a golden store has no such arrays")
    if kind in (_LINK_INFO, _ATTRIBUTE_INFO) and _is_dense(kind, body):
        raise StoreError("links or attributes lie in a heap; those of a golden store lie in headers")
    return None


def _target(body: bytes) -> int:
    """Where a hard link leads."""
    flags = body[1] if len(body) > 1 and body[0] == 1 else None
    if flags is None:
        raise StoreError("a link is damaged")
    at = 2
    kind = 0
    if flags & 8:
        kind, at = body[at] if len(body) > at else -1, at + 1
    at += 8 * bool(flags & 4) + bool(flags & 16)
    width = 1 << (flags & 3)
    length = int.from_bytes(body[at : at + width], "little")
    name, where = body[at + width : at + width + length], body[at + width + length :]
    if kind != 0:
        raise StoreError(f"{name[:80]!r} is a soft or external link; a golden store has no such links")
    if len(where) < 8:
        raise StoreError(f"the link {name[:80]!r} is damaged")
    return int.from_bytes(where[:8], "little")


def _is_dense(kind: int, body: bytes) -> bool:
    wide = 8 if kind == _LINK_INFO else 2
    at = 2 + wide * bool(len(body) > 1 and body[1] & 1)
    return body[at : at + 8] != _UNDEFINED


def _refuse_filters(body: bytes) -> None:
    """Refuses filters but shuffle and deflate, which are no plugins."""
    version, count = (body[0], body[1]) if len(body) > 1 else (0, 0)
    at = 2 if version == 2 else 8
    for _ in range(count):
        if len(body) < at + 6:
            raise StoreError("a list of filters is damaged")
        number = int.from_bytes(body[at : at + 2], "little")
        if number not in (_DEFLATE, _SHUFFLE):
            raise StoreError(f"an array is under the filter {number}, a plugin's; a golden store has no such arrays")
        named = version == 1 or number >= 256
        length = int.from_bytes(body[at + 2 : at + 4], "little") if named else 0
        values = (
            int.from_bytes(body[at + 6 : at + 8], "little")
            if named
            else int.from_bytes(body[at + 4 : at + 6], "little")
        )
        at += (8 if named else 6) + length + 4 * (values + (values % 2 if version == 1 else 0))
