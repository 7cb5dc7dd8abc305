"""Tells whether two records have the same content, with as little reading and hashing as possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import Any

import numpy as np

from harness.dtypes import by_name
from harness.errors import RecordError
from harness.records import Record, SlotKey
from harness.stats.digest import Digester, as_bytes, checked_dtype, digest
from harness.store import describe_key

Array = np.ndarray[Any, np.dtype[Any]]

#: Size in bytes from which a tensor is hashed while it is read.
_LARGE = 2**26
#: Elements of a block of a file: two of them stay in the cache.
_BLOCK = 65_536
#: Bytes that are copied for a comparison: numpy's overhead per call costs more.
_SHORT = 1 << 16
#: Elements of a tensor that is hashed at once, while its values are at hand.
_SMALL = 1024
#: Tensors that differ usually differ at the start.
_HEAD = 16

#: A digest, the record to make it from, or None for a side without the slot.
Known = bytes | Record | None


class Digests(Mapping[SlotKey, tuple[bytes | None, bytes | None]]):
    """Expected and found digest of each slot, None if a side lacks the slot; made on request.

    Args:
        known: the common digest of slots, or both of them, or the records to make them from.
    """

    def __init__(self, known: Iterable[tuple[SlotKey, Known | tuple[Known, Known]]] = ()) -> None:
        self._sides = dict(known)

    def put(self, key: SlotKey, expected: Known, found: Known) -> None:
        """Sets the digests of a slot, or the records to make them from."""
        self._sides[key] = expected, found

    def put_same(self, key: SlotKey, known: Known) -> None:
        """Sets the common digest of a slot, or the record to make it from."""
        self._sides[key] = known

    def __getitem__(self, key: SlotKey) -> tuple[bytes | None, bytes | None]:
        expected, found = self._sides[key] = both(self._sides[key])
        return expected, found

    def __iter__(self) -> Iterator[SlotKey]:
        return iter(self._sides)

    def __len__(self) -> int:
        return len(self._sides)


def both(sides: Known | tuple[Known, Known]) -> tuple[bytes | None, bytes | None]:
    """The digests of both sides, from what is known of each, or of both."""
    if not isinstance(sides, tuple):
        same = _made(sides)
        return same, same
    return _made(sides[0]), _made(sides[1])


def _made(known: Known) -> bytes | None:
    return content(known) if isinstance(known, Record) else known


def kept(known: bytes | Record, array: Array | None) -> bytes | Record:
    """The common digest of two slots, or the record to make it from later.

    If a record holds its values, the digest is made now, because the values are not kept. The same holds for a small
    tensor that was read: its record takes more memory than its digest.

    Args:
        array: the values, if they are loaded already.
    """
    if isinstance(known, Record) and (
        isinstance(known.values, np.ndarray) or (array is not None and array.size <= _SMALL)
    ):
        return content(known, array)
    if isinstance(known, Record) and known.values is None and known.known_digest is not None:
        return known.known_digest
    return known


def content(record: Record, array: Array | None = None) -> bytes:
    """A record's digest.

    Args:
        array: its values, if they are loaded already.

    Raises:
        RecordError: it has neither values nor a digest.
    """
    if record.digest is not None:
        return record.digest
    parts = _parts(record) if array is None else None
    if parts is None:
        return digest(loaded(record) if array is None else array, record.dtype)
    hasher = Digester(record.dtype, record.shape, by_name(record.dtype).numpy)
    for part in parts:
        hasher.take(part)
    return hasher.digest()


def _parts(record: Record) -> Iterator[Array] | None:
    """The values in order, in pieces; None if they can only be read whole."""
    size = prod(record.shape) * by_name(record.dtype).itemsize
    return (record.pieces() if size > _LARGE else None) or record.blocks(_BLOCK)


def loaded(record: Record) -> Array:
    """The values of a record that has no digest; ``RecordError`` if it has none either."""
    array = record.load()
    if array is None:
        raise RecordError(f"{describe_key(record.key)}: the record has neither values nor a digest")
    return array


def agree(expected: bytes | Record, found: Record) -> tuple[bool, Array | None, Array | None]:
    """Whether the digests agree, and the values of each side that had to be loaded.

    Raises:
        RecordError: a side has neither values nor a digest.
        DtypeError: values do not have the stated dtype.
    """
    if isinstance(expected, bytes):
        same, array = _has(found, expected)
        return same, None, array
    known = expected.agrees(found)
    if known is not None:
        return known, None, None
    if expected is found:
        return True, None, None
    if expected.digest is not None:
        return agree(expected.digest, found)
    if found.digest is not None:
        same, golden = _has(expected, found.digest)
        return same, golden, None
    alike = expected.dtype == found.dtype and expected.shape == found.shape
    if alike and (one := expected.blocks(_BLOCK)) is not None and (other := found.blocks(_BLOCK)) is not None:
        heads = expected.head(), found.head()
        if heads[0][: len(heads[1])] != heads[1][: len(heads[0])]:
            return False, None, None
        return all(_same(a, b) for a, b in zip(one, other, strict=True)), None, None
    golden, array = loaded(expected), loaded(found)
    types = checked_dtype(golden.dtype, expected.dtype), checked_dtype(array.dtype, found.dtype)
    shaped = golden.shape == array.shape == expected.shape == found.shape  # what a record says of itself may be wrong
    return types[0] == types[1] and shaped and _same(golden, array), golden, array


def _has(record: Record, known: bytes) -> tuple[bool, Array | None]:
    """Whether a record has a digest, and its values if they had to be loaded."""
    if record.digest is not None or record.blocks(1) is not None:
        return content(record) == known, None
    array = loaded(record)
    return array.shape == record.shape and digest(array, record.dtype) == known, array


def _same(one: Array, other: Array) -> bool:
    """Whether two arrays of one shape and dtype, but for the byte order, have the same bits."""
    if one.nbytes <= _SHORT and one.dtype == other.dtype:
        return one.tobytes() == other.tobytes()
    a, b = as_bytes(one), as_bytes(other)
    if a[:_HEAD].tobytes() != b[:_HEAD].tobytes():
        return False
    if a.size % 8 == 0:
        a, b = a.view(np.uint64), b.view(np.uint64)
    return bool(np.equal(a, b).all())
