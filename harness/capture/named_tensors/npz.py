"""Arrays of a ``numpy.savez`` or ``savez_compressed`` file: a zip of ``.npy`` files. No object array is ever loaded."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import BinaryIO

from harness.capture import npy
from harness.capture.torch_files.archive import Member, members
from harness.capture.torch_files.tensors import Item, StoredTensor
from harness.errors import TreeError
from harness.inflating import RATIO, inflate
from harness.reading import open_inside

_SUFFIX = ".npy"
_LONGEST_HEADER = 1 << 16
#: streams of zip archives have no header
_RAW = -zlib.MAX_WBITS


def items(path: str) -> Iterator[Item]:
    """The arrays of a file, by their names, in its order.

    Raises:
        ValueError: it is no such file, is damaged, or an array is of objects.
        OSError: it cannot be opened.
    """
    descriptor, _ = open_inside(path, None, TreeError)
    with open(descriptor, "rb") as file:
        for name, member in members(file, packed=True).items():
            if not name.endswith(_SUFFIX):
                raise ValueError(f"its member {name[:80]!r} is no .npy file; numpy.savez writes no other")
            file.seek(member.start)
            try:
                header = npy.parse_header(_head(file, member))
            except npy.Incomplete as error:
                raise ValueError(f"its member {name[:80]!r}: {error}") from None
            size = prod(header.shape) * header.dtype.itemsize
            if min(header.shape, default=0) < 0 or header.offset + size != member.size:
                raise ValueError(f"its member {name[:80]!r} has {member.size} bytes, its header makes another number")
            strides = _strides(header.shape, header.fortran)
            facts = path, None, header.dtype, header.shape, strides, member.start + header.offset, size
            value = StoredTensor(*facts) if member.packed is None else PackedTensor(*facts, member=member)
            yield Item(name[: -len(_SUFFIX)], value)


@dataclass(frozen=True, slots=True)
class PackedTensor(StoredTensor):
    """A tensor whose bytes are compressed; ``member`` is its file in the archive."""

    member: Member | None = None

    def _data(self) -> bytes:
        assert self.member is not None
        packed_size = self.member.packed
        descriptor, _ = open_inside(self.path, None, TreeError)
        with open(descriptor, "rb") as file:
            file.seek(self.member.start)
            packed = file.read(packed_size)
        found = inflate(packed, self.member.size, self.path, TreeError, _RAW)
        if self.member.crc != zlib.crc32(found):
            raise TreeError(f"{self.path}: its bytes are not those that were written: the checksum differs")
        return bytes(memoryview(found)[-self.size :]) if self.size else b""


def _head(file: BinaryIO, member: Member) -> bytes:
    """The first bytes of a member, which have its header."""
    if member.packed is None:
        return file.read(min(member.size, _LONGEST_HEADER))
    if member.size > member.packed * RATIO:
        raise ValueError(f"{member.packed} compressed bytes cannot hold {member.size}")
    try:
        return zlib.decompressobj(_RAW).decompress(file.read(min(member.packed, _LONGEST_HEADER)), _LONGEST_HEADER)
    except zlib.error as error:
        raise ValueError(f"compressed data are damaged: {error}") from None


def _strides(shape: tuple[int, ...], fortran: bool) -> tuple[int, ...]:
    """In elements."""
    steps, width = [], 1
    for size in shape if fortran else reversed(shape):
        steps.append(width)
        width *= size
    return tuple(steps if fortran else reversed(steps))
