"""Messages of object headers (format specification, IV.A.2), and headers made of them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from functools import lru_cache

from harness.errors import StoreError
from harness.store.h5write.lookup3 import checksums

#: Address that says "nowhere".
UNDEFINED = 0xFFFF_FFFF_FFFF_FFFF

#: Kinds of messages.
DATASPACE, LINK_INFO, DATATYPE, FILL, LINK = 0x01, 0x02, 0x03, 0x05, 0x06
LAYOUT, GROUP_INFO, FILTERS, ATTRIBUTE, REFERENCES = 0x08, 0x0A, 0x0B, 0x0C, 0x16
KINDS = (DATASPACE, LINK_INFO, DATATYPE, FILL, LINK, LAYOUT, GROUP_INFO, FILTERS, ATTRIBUTE, REFERENCES)

_SHUFFLE, _DEFLATE = 2, 1

Message = tuple[int, bytes]

_HEAD = struct.Struct("<BHB").pack


def dataspace(shape: Sequence[int]) -> Message:
    """A scalar's or an array's extent."""
    return DATASPACE, struct.pack(f"<4B{len(shape)}Q", 2, len(shape), 0, 1 if shape else 0, *shape)


def datatype(kind: bytes) -> Message:
    """The type of elements; ``kind`` from ``types.datatype``."""
    return DATATYPE, kind


def fill_never(*, chunked: bool) -> Message:
    """No fill value is ever written; space is there from the beginning (chunks: as they come)."""
    return FILL, struct.pack("<2B", 3, (3 if chunked else 1) | 1 << 2)


def contiguous(address: int, size: int) -> Message:
    """``size`` bytes at ``address``."""
    return LAYOUT, struct.pack("<2BQQ", 3, 1, address if size else UNDEFINED, size)


def one_chunk(shape: Sequence[int], itemsize: int, address: int, size: int) -> Message:
    """One filtered chunk, as large as the array, of ``size`` bytes at ``address``."""
    extent = (*shape, itemsize)
    width = (max(extent).bit_length() + 7) // 8
    sizes = b"".join(n.to_bytes(width, "little") for n in extent)
    # 2: the chunk's size in the file and its filter mask are in this message; 1: index type "single chunk".
    head = struct.pack("<5B", 4, 2, 2, len(extent), width)
    return LAYOUT, head + sizes + struct.pack("<BQIQ", 1, size, 0, address)


def shuffle_deflate(itemsize: int, level: int) -> Message:
    """The filters of a packed chunk."""
    shuffle = struct.pack("<HHHI", _SHUFFLE, 1, 1, itemsize)
    return FILTERS, struct.pack("<2B", 2, 2) + shuffle + struct.pack("<HHHI", _DEFLATE, 1, 1, level)


def references(count: int) -> Message:
    """How many hard links lead here; only where it is not one."""
    return REFERENCES, struct.pack("<BI", 0, count)


def attribute(name: str, kind: bytes, value: bytes) -> Message:
    """A scalar attribute."""
    raw, space = name.encode() + b"\0", dataspace(())[1]
    head = struct.pack("<2B3HB", 3, 0, len(raw), len(kind), len(space), 0)
    return ATTRIBUTE, head + raw + kind + space + value


# The same names come again in store after store.
@lru_cache(maxsize=4096)
def _before_address(name: bytes) -> bytes:
    """The encoded message of a hard link, up to the address it ends with; ``StoreError`` for a name too long."""
    utf8 = not name.isascii()
    width = 0 if len(name) < 2**8 else 1 if len(name) < 2**16 else 2
    flags = width | (0x10 if utf8 else 0)
    head = struct.pack("<2B", 1, flags) + (b"\1" if utf8 else b"")
    whole = encoded([(LINK, head + len(name).to_bytes(1 << width, "little") + name + bytes(8))])
    return whole[:-8]


def links(addresses: Iterable[tuple[bytes, int]]) -> bytes:
    """Encoded messages of hard links: each a name, and where the object header is it leads to."""
    return b"".join([_before_address(name) + address.to_bytes(8, "little") for name, address in addresses])


def links_size(names: Iterable[bytes]) -> int:
    """Bytes of ``links``."""
    return sum([len(_before_address(name)) + 8 for name in names])


def encoded(messages: Iterable[Message]) -> bytes:
    """Messages as they stand in an object header; ``StoreError`` for one that is too long."""
    parts: list[bytes] = []
    for kind, data in messages:
        if len(data) >= 2**16:
            raise StoreError(f"a header message of {len(data)} bytes: a name or an attribute is too long")
        parts += (_HEAD(kind, len(data), 0), data)
    return b"".join(parts)


#: What every group has: links are kept in its header, in no particular order.
GROUP = encoded([(LINK_INFO, struct.pack("<2BQQ", 0, 0, UNDEFINED, UNDEFINED)), (GROUP_INFO, bytes(2))])


def header_size(body: int) -> int:
    """Bytes of the object header around ``body`` bytes of encoded messages."""
    return 6 + _width(body) + body + 4


def _width(body: int) -> int:
    return 1 if body < 2**8 else 2 if body < 2**16 else 4


def headers(bodies: Iterable[bytes]) -> list[bytes]:
    """Object headers, version 2, without times, around encoded messages."""
    plain = []
    for body in bodies:
        width = _width(len(body))
        flags = width.bit_length() - 1
        plain.append(b"OHDR" + struct.pack("<2B", 2, flags) + len(body).to_bytes(width, "little") + body)
    return [raw + struct.pack("<I", found) for raw, found in zip(plain, checksums(plain), strict=True)]


def superblock(root: int, end: int) -> bytes:
    """The first bytes of the file: where the root group is, and where the file ends."""
    raw = b"\x89HDF\r\n\x1a\n" + struct.pack("<4B4Q", 2, 8, 8, 0, 0, UNDEFINED, end, root)
    return raw + struct.pack("<I", checksums([raw])[0])


#: Bytes of ``superblock``.
SUPERBLOCK_SIZE = 48
