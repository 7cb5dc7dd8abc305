"""Reads what ``h5write`` wrote, without libhdf5: what a run's group says, and its small tables and texts.

libhdf5 costs more to start and to open a file than a whole check of a small golden. Only the forms ``h5write`` uses are
known here, and nothing is guessed: for anything else, and for anything that does not add up, ``NotOurs`` sends the
caller to ``hdf``, which reads every file and says what is wrong with it. Metadata checksums are not verified here;
whoever uses this has to verify what it read (``overview`` does, by the run's own checksum).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np

from harness.store.arrays import MAX_RATIO, Stored, fetch
from harness.store.h5write import messages, types
from harness.store.h5write.lookup3 import checksums
from harness.store.packing import DEFLATE_LEVEL

#: More bytes of object headers are not read at once.
_MAX_HEADERS = 64 * 2**20

_SUPERBLOCK = struct.Struct("<28x2Q")
_MESSAGE = struct.Struct("<BHB")
_ATTRIBUTE = struct.Struct("<2B3HB")
_PLACE = struct.Struct("<2Q")
_CHUNK = struct.Struct("<BQIQ")

#: What of a superblock and of a chunk's message does not depend on addresses.
_SIGNATURE = messages.superblock(0, 0)[:28]
_TEXT = {utf8: types.datatype(np.dtype("S1"), utf8=utf8)[:4] for utf8 in (False, True)}


class NotOurs(Exception):
    """The file, or a part of it, is not what ``h5write`` writes: foreign, or damaged."""


class Node:
    """An object header, taken apart.

    Attributes:
        links: of a group, addresses of what it holds, by name.
        attributes: encoded datatype and value, by name.
    """

    __slots__ = ("_parts", "attributes", "links")

    def __init__(self, raw: bytes, at: int) -> None:
        self.links: dict[bytes, int] = {}
        self.attributes: dict[bytes, tuple[bytes, bytes]] = {}
        self._parts: dict[int, bytes] = {}
        at, end = _body(raw, at)
        while at < end:
            kind, size, flags = _MESSAGE.unpack_from(raw, at)
            at += 4
            if flags or at + size > end:
                raise NotOurs("a message leaves its header")
            data = raw[at : at + size]
            at += size
            if kind == messages.LINK:
                name, address = _link(data)
                self.links[name] = address
            elif kind == messages.ATTRIBUTE:
                name, encoded, value = _attribute(data)
                self.attributes[name] = (encoded, value)
            elif kind in self._parts or kind not in messages.KINDS:
                raise NotOurs("a message of another kind, or twice")
            else:
                self._parts[kind] = data

    def is_group(self) -> bool:
        """Whether it is a group; else it is a dataset."""
        return messages.LINK_INFO in self._parts

    def text(self, name: bytes) -> str:
        """A text attribute."""
        kind, value = self._value(name)
        if kind[:4] != _TEXT[True] or len(value) != int.from_bytes(kind[4:8], "little"):
            raise NotOurs("an attribute is no text")
        try:
            return value.rstrip(b"\0").decode()
        except UnicodeDecodeError:
            raise NotOurs("an attribute is no UTF-8") from None

    def number(self, name: bytes) -> int:
        """An integer attribute."""
        kind, value = self._value(name)
        if kind != types.datatype(np.dtype("<i8")) or len(value) != 8:
            raise NotOurs("an attribute is no integer")
        return int.from_bytes(value, "little", signed=True)

    def _value(self, name: bytes) -> tuple[bytes, bytes]:
        if name not in self.attributes:
            raise NotOurs("an attribute is missing")
        return self.attributes[name]

    def part(self, kind: int) -> bytes:
        """The message of that kind."""
        found = self._parts.get(kind)
        if found is None:
            raise NotOurs("a message is missing")
        return found


class Headers:
    """The object headers of a file.

    Args:
        descriptor: of the open file.
        size: of the file in bytes.

    Raises:
        NotOurs: it was not written by ``h5write``.
    """

    def __init__(self, descriptor: int, size: int) -> None:
        self._descriptor = descriptor
        self._size = size
        self._groups: dict[int, Node] = {}
        head = os.pread(descriptor, messages.SUPERBLOCK_SIZE, 0)
        if len(head) != messages.SUPERBLOCK_SIZE or head[:28] != _SIGNATURE:
            raise NotOurs("another superblock")
        end, self._start = _SUPERBLOCK.unpack_from(head)
        if end != size or not messages.SUPERBLOCK_SIZE <= self._start < end or end - self._start > _MAX_HEADERS:
            raise NotOurs("the headers are elsewhere")
        # ``h5write`` writes all headers last, the root's first of them.
        self._raw = os.pread(descriptor, end - self._start, self._start)

    @property
    def root(self) -> Node:
        """The root group."""
        return self.node(self._start)

    def node(self, address: int) -> Node:
        """The object at an address; ``NotOurs`` if there is none."""
        found = self._groups.get(address)
        if found is None:
            try:
                found = Node(self._raw, address - self._start)
            except (struct.error, IndexError) as error:
                raise NotOurs(str(error)) from None
            if found.is_group():
                self._groups[address] = found
        return found

    def have_checksums(self, addresses: Sequence[int]) -> bool:
        """Whether the root's header, and those at ``addresses``, have the checksums that stand behind them."""
        wholes = [self._whole(address - self._start) for address in (self._start, *addresses)]
        return checksums([whole[:-4] for whole in wholes]) == [int.from_bytes(whole[-4:], "little") for whole in wholes]

    def _whole(self, at: int) -> bytes:
        """A header with its checksum."""
        return self._raw[at : _body(self._raw, at)[1] + 4]

    def table(self, node: Node, dtype: np.dtype[Any]) -> Stored:
        """A dataset's array as it lies in the file; ``NotOurs`` if it is not of that dtype."""
        if node.part(messages.DATATYPE) != _encoded(dtype):
            raise NotOurs("a dataset of another type")
        return self._stored(node, dtype)

    def strings(self, node: Node, *, utf8: bool) -> Stored:
        """An array of strings as it lies in the file."""
        kind = node.part(messages.DATATYPE)
        size = int.from_bytes(kind[4:], "little")
        if len(kind) != 8 or kind[:4] != _TEXT[utf8] or not 0 < size < 2**31:
            raise NotOurs("a dataset of another type")
        return self._stored(node, np.dtype(f"S{size}"))

    def _stored(self, node: Node, dtype: np.dtype[Any]) -> Stored:
        space, layout = node.part(messages.DATASPACE), node.part(messages.LAYOUT)
        shape = struct.unpack(f"<{len(space) // 8}Q", space[4:])
        nbytes = prod(shape) * dtype.itemsize
        if space != messages.dataspace(shape)[1]:
            raise NotOurs("another dataspace")
        if nbytes == 0:
            return Stored(dtype, shape, b"", packed=False)
        packed = messages.FILTERS in node._parts
        if packed:
            if node.part(messages.FILTERS) != _filters(dtype.itemsize):
                raise NotOurs("other filters")
            _, size, _, at = _CHUNK.unpack(layout[-_CHUNK.size :])
            wanted = messages.one_chunk(shape, dtype.itemsize, at, size)
        else:
            at, size = _PLACE.unpack(layout[-_PLACE.size :])
            wanted = messages.contiguous(at, size)
        if layout != wanted[1] or (size != nbytes and not packed) or nbytes > MAX_RATIO * (size + 1):
            raise NotOurs("another layout")
        if at + size > self._size:
            raise NotOurs("a dataset leaves the file")
        return Stored(dtype, shape, fetch(self._descriptor, size, at), packed)


@cache
def _encoded(dtype: np.dtype[Any]) -> bytes:
    return types.datatype(dtype)


@cache
def _filters(itemsize: int) -> bytes:
    return messages.shuffle_deflate(itemsize, DEFLATE_LEVEL)[1]


def _body(raw: bytes, at: int) -> tuple[int, int]:
    """Where the messages of the header at ``at`` begin and end."""
    if at < 0 or raw[at : at + 5] != b"OHDR\2" or raw[at + 5] > 2:
        raise NotOurs("no object header")
    start = at + 6 + (1 << raw[at + 5])
    end = start + int.from_bytes(raw[at + 6 : start], "little")
    if end + 4 > len(raw):
        raise NotOurs("an object header leaves the file")
    return start, end


def _link(data: bytes) -> tuple[bytes, int]:
    """Name and address of a hard link."""
    flags, at = data[1], 2
    if flags & 0x10:
        at += 1
    start = at + (1 << (flags & 3))
    end = start + int.from_bytes(data[at:start], "little")
    if data[0] != 1 or flags & 0xEC or flags & 3 == 3 or end + 8 != len(data):
        raise NotOurs("another kind of link")
    return data[start:end], int.from_bytes(data[end:], "little")


def _attribute(data: bytes) -> tuple[bytes, bytes, bytes]:
    """Name, encoded datatype, and value of a scalar attribute."""
    version, flags, name_size, kind_size, space_size, charset = _ATTRIBUTE.unpack_from(data)
    at = _ATTRIBUTE.size
    name, kind = data[at : at + name_size], data[at + name_size : at + name_size + kind_size]
    space = data[at + name_size + kind_size :][:space_size]
    if (version, flags, charset) != (3, 0, 0) or space != _SCALAR or name[-1:] != b"\0":
        raise NotOurs("another kind of attribute")
    return name[:-1], kind, data[at + name_size + kind_size + space_size :]


_SCALAR = messages.dataspace(())[1]
