"""Inflates compressed data from untrusted files: in pieces, to a bounded size, at a bounded ratio."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator

from harness.errors import first_line
from harness.reading import Refuse

PIECE = 1 << 20
"""Number of bytes inflated at once."""
RATIO = 1100
"""Deflate turns one byte into at most 1,032; data that claim more are damaged."""


def inflate(packed: bytes, size: int, where: str, refuse: Refuse, window: int = zlib.MAX_WBITS) -> bytearray:
    """Inflates a zlib stream that must hold exactly ``size`` bytes.

    Args:
        packed, size: the stream, and what it holds.
        where, refuse: names it in errors, and makes them.
        window: see ``zlib.decompressobj``; below 0 for a stream without a header, as zip archives have it.

    Raises:
        HarnessError: made by ``refuse`` if so few bytes cannot hold ``size``, the stream is damaged, or it holds more
            or fewer bytes. At most ``size`` bytes and one piece are in memory.
    """
    if size > len(packed) * RATIO:
        raise refuse(f"{where}: {len(packed)} compressed bytes cannot hold {size}")
    inflater, found, rest = zlib.decompressobj(window), bytearray(), packed
    try:
        while not inflater.eof and len(found) <= size:
            piece = inflater.decompress(rest, min(PIECE, size + 1 - len(found)) or 1)
            rest = inflater.unconsumed_tail
            if not piece and not rest:
                break
            found += piece
    except zlib.error as error:
        raise refuse(f"{where}: compressed data are damaged: {error}") from None
    if len(found) != size or not inflater.eof:
        raise refuse(f"{where}: compressed data do not hold the {size} bytes they should")
    return found


def member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, where: str, refuse: Refuse) -> Iterator[bytes]:
    """Gives the pieces of a zip archive's member, up to the size that the archive states.

    Raises:
        HarnessError: made by ``refuse`` for a damaged, encrypted or unknown stream, and for a size that the compressed
            bytes cannot hold.
    """
    label = f"{where}: {info.filename!r}"
    if info.file_size > max(info.compress_size, 1) * RATIO:
        raise refuse(f"{label}: {info.compress_size} compressed bytes cannot hold {info.file_size}")
    left = info.file_size
    try:
        with archive.open(info) as packed:
            while piece := packed.read(min(PIECE, left + 1)):
                left -= len(piece)
                yield piece
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError) as error:
        raise refuse(f"{label}: it is damaged: {first_line(error)}") from None
    if left:
        raise refuse(f"{label}: it holds {left} bytes fewer than the archive says")
