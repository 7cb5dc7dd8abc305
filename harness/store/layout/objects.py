"""The stored form of arrays: tensors, tables and texts, plain or compressed.

Compressed means HDF5's own filters shuffle and deflate over one chunk, applied here rather than inside HDF5: a chunk
can be copied from an older store untouched (its bytes stay, whatever zlib wrote them), and what a damaged or hostile
chunk inflates to is bounded. Nothing is allocated before the sizes are known to be possible.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from harness import dtypes, portable
from harness.errors import DtypeError, StoreError
from harness.stats.digest import as_bytes
from harness.store.layout.schema import Compression

Array = np.ndarray[Any, np.dtype[Any]]

#: zlib's level. Dumps are mostly mantissa bits; there higher levels cost time and save less than 1 %.
DEFLATE_LEVEL = 4

#: Below this size nothing is compressed: a chunk's bookkeeping would eat the gain.
MIN_BYTES = 256

#: From this size on, a tensor of one value is packed in every store, and takes a thousandth.
CONSTANT_BYTES = 4096
_BLOCK = 1 << 20

#: Deflate cannot shrink by more than 1032:1, so a chunk that claims more is damaged.
MAX_RATIO = 1032

#: Tables and texts shrink by less than this; a small file must not request a huge amount of memory.
_TABLE_RATIO, _TABLE_FREE = 100, 4 * 2**20

#: Attribute of objects whose elements HDF5 has no type for: the dtype's name.
DTYPE_ATTRIBUTE = "dtype"


@dataclass(frozen=True, slots=True)
class Stored:
    """The stored form of an array.

    Attributes:
        dtype: numpy dtype of the stored elements, little-endian (bfloat16 is uint16 here).
        shape: of the array.
        raw: uint8, the elements' bytes in C order, or the chunk's if ``packed``.
        packed: whether ``raw`` is shuffled and deflated.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    raw: Array | bytes
    packed: bool

    def unpacked(self) -> Array:
        """The elements' bytes: uint8 [nbytes]."""
        if not self.packed:
            return np.frombuffer(self.raw, np.uint8)
        return unpack(bytes(self.raw), prod(self.shape) * self.dtype.itemsize, self.dtype.itemsize)

    def array(self) -> Array:
        """The array itself, little-endian."""
        return self.unpacked().view(self.dtype).reshape(self.shape)


# --- compression ----------------------------------------------------------------------------------------------------


def pack(raw: Array, itemsize: int) -> bytes | None:
    """Shuffled and deflated bytes, or None if that saves less than a tenth.

    Args:
        raw: uint8 [nbytes], C-contiguous.
        itemsize: bytes of one element; ``nbytes`` is a multiple of it.
    """
    # A chunk holds less than 4 GiB.
    if not MIN_BYTES <= raw.size < 2**32 - 1:
        return None
    packed = zlib.compress(_shuffle(raw, itemsize).data, DEFLATE_LEVEL)
    return packed if len(packed) <= raw.size * 9 // 10 else None


class Constant:
    """Notices a tensor of one value, which comes in pieces."""

    def __init__(self, itemsize: int) -> None:
        self._itemsize, self._nbytes = itemsize, 0
        self._element: bytes | None = None
        self._holds = True

    def take(self, piece: Array) -> None:
        """Looks at the next piece: at a few bytes of it, unless it may be of the one value."""
        if not self._holds or not piece.size:
            return
        raw, width = as_bytes(piece), self._itemsize
        first = raw[:width].tobytes()
        self._holds = (self._element or first) == first == raw[-width:].tobytes() and _repeats(raw, width)
        self._element, self._nbytes = first, self._nbytes + raw.size

    def is_packed(self, shape: tuple[int, ...]) -> bool:
        """Whether all elements have the same bytes, and are many enough to be packed in any store."""
        return self._holds and bool(shape) and CONSTANT_BYTES <= self._nbytes < 2**32 - 1

    def packed(self, count: int) -> bytes:
        """What ``pack`` would make of ``count`` such elements, without the memory for them."""
        deflater, parts = zlib.compressobj(DEFLATE_LEVEL), []
        for byte in self._element or b"":
            block = bytes((byte,)) * min(count, _BLOCK)
            parts += [deflater.compress(block[: min(_BLOCK, count - at)]) for at in range(0, count, _BLOCK)]
        return b"".join([*parts, deflater.flush()])


def _repeats(raw: Array, width: int) -> bool:
    later, earlier = raw[width:], raw[:-width]
    blocks = range(0, later.size, _BLOCK)
    return all(np.array_equal(later[at : at + _BLOCK], earlier[at : at + _BLOCK]) for at in blocks)


def unpack(packed: bytes, nbytes: int, itemsize: int) -> Array:
    """uint8 [nbytes] of what ``pack`` made; ``StoreError`` for any other bytes."""
    return _unshuffle(np.frombuffer(inflate(packed, nbytes), np.uint8), itemsize)


def inflate(packed: bytes, nbytes: int) -> bytes:
    """The ``nbytes`` bytes that were deflated; ``StoreError`` for any other bytes."""
    if nbytes > MAX_RATIO * (len(packed) + 1):
        raise StoreError(f"a chunk of {len(packed)} bytes cannot hold {nbytes}")
    inflater = zlib.decompressobj()
    try:
        # One byte more than allowed, so that a longer stream is detected without inflating it all.
        raw = inflater.decompress(packed, nbytes + 1)
    except zlib.error as error:
        raise StoreError(f"a compressed chunk is damaged: {error}") from None
    if len(raw) != nbytes or not inflater.eof:
        raise StoreError(f"a compressed chunk does not hold the expected {nbytes} bytes")
    return raw


def _shuffle(raw: Array, itemsize: int) -> Array:
    # Of a single element nothing moves.
    return np.ascontiguousarray(raw.reshape(-1, itemsize).T) if 1 < itemsize < raw.size else raw


def _unshuffle(raw: Array, itemsize: int) -> Array:
    return np.ascontiguousarray(raw.reshape(itemsize, -1).T).reshape(-1) if 1 < itemsize < raw.size else raw


def proportionate(nbytes: int, size: int) -> bool:
    """Whether a table or text of ``nbytes`` may be packed in ``size``."""
    return nbytes <= _TABLE_FREE + _TABLE_RATIO * size


def fetch(descriptor: int, size: int, at: int) -> Array:
    """Reads ``size`` bytes at ``at`` of an open file: uint8 [size]; ``StoreError`` if the file ends earlier."""
    raw = np.empty(size, np.uint8)
    view, done = raw.data, 0
    while done < size:
        got = portable.preadv(descriptor, [view[done:]], at + done)
        if got == 0:
            raise StoreError(f"the file ends {size - done} bytes too early")
        done += got
    return raw


def fetch_short(descriptor: int, size: int, at: int) -> bytes:
    """Like ``fetch``, for tables and texts: numpy's array takes longer than reading them."""
    raw = portable.pread(descriptor, size, at)
    return raw if len(raw) == size else fetch(descriptor, size, at).tobytes()


# --- tables ---------------------------------------------------------------------------------------------------------


def packed_table(table: Array, old: Stored | None = None) -> Stored:
    """The stored form of a table or text, compressed if that saves space; ``old`` if it holds the same."""
    raw = table.reshape(-1).view(np.uint8)
    if old is not None and old.dtype == table.dtype and old.shape == table.shape and holds(old, raw):
        return old
    packed = pack(raw, table.dtype.itemsize)
    if packed is not None and not proportionate(raw.size, len(packed)):
        packed = None
    return Stored(table.dtype, table.shape, raw if packed is None else packed, packed is not None)


def holds(old: Stored, raw: Array) -> bool:
    """Whether something stored earlier holds exactly these bytes.

    If so, it is reused unchanged: another version of zlib may pack the same bytes differently, and an unchanged
    result must leave an unchanged file.
    """
    try:
        return np.array_equal(old.unpacked(), raw)
    except StoreError:
        return False


# --- tensors --------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def stored_dtype(dtype_name: str) -> np.dtype[Any]:
    """The little-endian numpy dtype that stores a MindSpore dtype: an unsigned integer of the same size for bfloat16
    and other types that numpy lacks."""
    try:
        dtype = dtypes.by_name(dtype_name)
    except DtypeError as error:
        raise StoreError(str(error)) from None
    own = dtype.numpy.isbuiltin == 1
    return dtype.numpy.newbyteorder("<") if own else np.dtype(f"<u{dtype.itemsize}")


def to_stored(array: Array, dtype_name: str, compression: Compression) -> Stored:
    """The stored form of an array; compressed if requested and if that saves space, or if it holds one value."""
    dtype, raw = stored_dtype(dtype_name), as_bytes(array)
    one = Constant(dtype.itemsize)
    if compression != "gzip" and raw.size >= CONSTANT_BYTES:
        one.take(array)
        if one.is_packed(array.shape):
            return Stored(dtype, array.shape, one.packed(array.size), packed=True)
    if compression == "gzip" and array.shape:
        packed = pack(raw, dtype.itemsize)
        if packed is not None:
            return Stored(dtype, array.shape, packed, packed=True)
    return Stored(dtype, array.shape, raw, packed=False)


def from_stored(stored: Stored, dtype_name: str, shape: tuple[int, ...]) -> Array:
    """The tensor that an object holds; ``StoreError`` if its dtype or shape differs."""
    wanted = stored_dtype(dtype_name)
    if stored.dtype != wanted or stored.shape != shape:
        raise StoreError(
            f"the index says {dtype_name}{list(shape)}, but the stored array is {stored.dtype}{list(stored.shape)}"
        )
    raw = stored.unpacked()
    if raw.size != prod(shape) * wanted.itemsize:
        raise StoreError(f"{raw.size} bytes are stored, but {dtype_name}{list(shape)} needs another number")
    return raw.view(dtypes.by_name(dtype_name).numpy).reshape(shape)
