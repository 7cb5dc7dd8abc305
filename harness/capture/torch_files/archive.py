"""The zip archive of a ``.pt`` file: where each member's bytes lie. PyTorch compresses none."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from typing import BinaryIO, NamedTuple

_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_ENTRY = struct.Struct("<4s4B4HL2L5H2L")
_LOCAL = struct.Struct("<4s2B4HL2L2H")
_MOST_COMMENT = 1 << 16
_FULL, _FULL16 = 0xFFFFFFFF, 0xFFFF
_EXTRA64 = 1
#: Members of an archive, and bytes of their list, that are read at most.
MOST = 1 << 18
_LONGEST_LIST = 1 << 26


class Member(NamedTuple):
    """A member of the archive.

    Attributes:
        start, size: where its bytes begin in the file, and how many they are when they are inflated.
        crc: their CRC-32; 0 if unknown.
        packed: the number of compressed bytes; None where they are not compressed.
    """

    start: int
    size: int
    crc: int
    packed: int | None = None


def members(file: BinaryIO, packed: bool = False) -> dict[str, Member]:
    """The members of an open archive, by name.

    Args:
        packed: whether members may be compressed (deflated).

    Raises:
        ValueError: it is no such archive, or it is damaged.
        OSError: it cannot be read.
    """
    size = os.fstat(file.fileno()).st_size
    count, length, start = _directory(file, size)
    if count > MOST or length > _LONGEST_LIST or start + length > size:
        raise ValueError(f"a zip archive of {count} members, listed in {length} bytes, cannot be")
    file.seek(start)
    data, at = file.read(length), 0
    found: dict[str, Member] = {}
    for _ in range(count):
        if at + _ENTRY.size > len(data):
            raise ValueError("its list of members is cut")
        fields = _ENTRY.unpack_from(data, at)
        if fields[0] != b"PK\1\2":
            raise ValueError("its list of members is damaged")
        flags, method, crc, short, plain, named, extra, comment = (fields[i] for i in (5, 6, 9, 10, 11, 12, 13, 14))
        name = data[at + _ENTRY.size : at + _ENTRY.size + named].decode("utf-8", "replace")
        more = data[at + _ENTRY.size + named : at + _ENTRY.size + named + extra]
        plain, short, offset = _long(more, plain, short, fields[18])
        deflated = packed and method == zipfile.ZIP_DEFLATED
        if flags & 1 or (not deflated and (method or short != plain)):
            raise ValueError(f"its member {name[:80]!r} is compressed or encrypted")
        found[name] = Member(offset, plain, crc, short if deflated else None)
        at += _ENTRY.size + named + extra + comment
    return {name: _placed(file, member, size, name) for name, member in found.items()}


def _directory(file: BinaryIO, size: int) -> tuple[int, int, int]:
    """Number of members, length and start of their list."""
    tail = min(size, _END.size + _MOST_COMMENT)
    file.seek(size - tail)
    data = file.read(tail)
    at = data.rfind(b"PK\5\6")
    if at < 0 or at + _END.size > len(data):
        raise ValueError("no zip archive")
    _, _, _, _, count, length, start, _ = _END.unpack_from(data, at)
    if count == _FULL16 or _FULL in (length, start):
        before = size - tail + at - _LOCATOR.size
        if before < 0:
            raise ValueError("its list of members is damaged")
        file.seek(before)
        mark, _, place, _ = _LOCATOR.unpack(_exactly(file, _LOCATOR.size))
        if mark != b"PK\6\7" or place > size:
            raise ValueError("its list of members is damaged")
        file.seek(place)
        fields = _END64.unpack(_exactly(file, _END64.size))
        if fields[0] != b"PK\6\6":
            raise ValueError("its list of members is damaged")
        count, length, start = fields[7], fields[8], fields[9]
    return count, length, start


def _long(extra: bytes, plain: int, packed: int, offset: int) -> tuple[int, int, int]:
    """The numbers of an entry, where they have 64 bits."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if at + 4 + length > len(extra):
            raise ValueError("its list of members is damaged")
        if kind == _EXTRA64:
            values = iter(struct.unpack_from(f"<{length // 8}Q", extra, at + 4))
            try:
                plain = next(values) if plain == _FULL else plain
                packed = next(values) if packed == _FULL else packed
                offset = next(values) if offset == _FULL else offset
            except StopIteration:
                raise ValueError("its list of members is damaged") from None
        at += 4 + length
    return plain, packed, offset


def _placed(file: BinaryIO, member: Member, size: int, name: str) -> Member:
    """A member with the place of its bytes instead of its header's."""
    if member.start + _LOCAL.size > size:
        raise ValueError(f"its member {name[:80]!r} lies outside of the file")
    file.seek(member.start)
    fields = _LOCAL.unpack(_exactly(file, _LOCAL.size))
    start = member.start + _LOCAL.size + fields[10] + fields[11]
    held = member.size if member.packed is None else member.packed
    if fields[0] != b"PK\3\4" or start + held > size:
        raise ValueError(f"its member {name[:80]!r} lies outside of the file")
    return member._replace(start=start)


def content(file: BinaryIO, member: Member, limit: int) -> bytes:
    """A member's bytes; ``ValueError`` if they are more than ``limit``, cut, or not those that were written."""
    if member.size > limit:
        raise ValueError(f"a member of {member.size} bytes, where at most {limit} are read")
    file.seek(member.start)
    data = _exactly(file, member.size)
    if member.crc and zlib.crc32(data) != member.crc:
        raise ValueError("its bytes are not those that were written: the checksum differs")
    return data


def _exactly(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    if len(data) != size:
        raise ValueError("the file is cut")
    return data
