"""Compressed data from elsewhere is inflated here: in pieces, to a bounded size, at a bounded ratio."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator

from harness.errors import HarnessError, first_line
from harness.reading import Refuse

PIECE = 1 << 20
"""Bytes that are inflated at once."""
RATIO = 1100
"""Deflate makes of one byte at most 1,032; what promises more lies."""


def inflate(packed: bytes, size: int, where: str, refuse: Refuse) -> bytearray:
    """Exactly ``size`` bytes from a zlib stream that ends with them.

    Raises:
        HarnessError: what ``refuse`` makes: ``size`` is beyond what so few bytes can hold, the stream is damaged, or
            holds more or fewer bytes. No more than ``size`` and a piece are ever held.
    """
    if size > len(packed) * RATIO:
        raise refuse(f"{where}: {len(packed)} compressed bytes cannot hold {size}")
    inflater, found, rest = zlib.decompressobj(), bytearray(), packed
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
    """The pieces of a member of a zip archive, no more than the archive says it has.

    Raises:
        HarnessError: what ``refuse`` makes, for a damaged, encrypted or unknown stream, and for a size that the
            compressed bytes cannot hold.
    """
    label = f"{where}: {info.filename!r}"
    if info.file_size > max(info.compress_size, 1) * RATIO:
        raise refuse(f"{label}: {info.compress_size} compressed bytes cannot hold {info.file_size}")
    left = info.file_size
    try:
        with archive.open(info) as packed:
            while piece := packed.read(min(PIECE, left + 1)):
                left -= len(piece)
                if left < 0:
                    raise refuse(f"{label}: it holds more bytes than the archive says")
                yield piece
    except HarnessError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError) as error:
        raise refuse(f"{label}: it is damaged: {first_line(error)}") from None
    if left:
        raise refuse(f"{label}: it holds {left} bytes fewer than the archive says")
