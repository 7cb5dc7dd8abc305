"""One side's numbers block by block: from an array, or from a file that is read again at each request.

A block of a file lies in memory that the next one overwrites, small enough to stay in the cache: comparing two files
costs little more than reading them, and takes no memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from harness import dtypes
from harness.compare.measurement import Number
from harness.records import Record

Array = np.ndarray[Any, np.dtype[Any]]


class Source:
    """The numbers of an array.

    Attributes:
        dtype: dtype of the numbers, in the machine's byte order.
        shape: shape of the whole array.
        size: number of elements.
        found_out: what took a pass over the numbers, by what asked for it.
    """

    def __init__(self, array: Array) -> None:
        self.found_out: dict[object, Any] = {}
        native = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
        self.dtype = native.dtype
        self.shape = native.shape
        self.size = native.size
        self._flat = np.ascontiguousarray(native).reshape(-1)

    def whole(self) -> Array | None:
        """All numbers as 1-D array if they are in memory; else None."""
        return self._flat

    def blocks(self, size: int) -> Iterator[Array]:
        """1-D contiguous arrays of ``size`` numbers (the last may be shorter), in C order; each is valid until the
        next."""
        for at in range(0, self.size, size):
            yield self._flat[at : at + size]

    def item(self, at: int) -> Number:
        """The number at a flat index."""
        return number(self._flat[at])


class _Read(Source):
    """The numbers of a record that can be read block by block."""

    def __init__(self, record: Record) -> None:
        self.found_out = {}
        self.dtype = dtypes.by_name(record.dtype).numpy
        self.shape = record.shape
        self.size = prod(record.shape)
        self._record = record

    def whole(self) -> Array | None:
        return None

    def blocks(self, size: int) -> Iterator[Array]:
        found = self._record.blocks(size)
        assert found is not None  # ``source_of`` asked
        return found

    def item(self, at: int) -> Number:
        found = self._record.blocks(1, at)
        assert found is not None
        return number(next(found)[0])


def source(given: Array | Source) -> Source:
    """Makes the source that ``measure`` and similar functions take."""
    return given if isinstance(given, Source) else Source(given)


def source_of(record: Record, array: Array | None = None) -> Source | None:
    """Makes the source of a record's values; None if they were not kept.

    Args:
        array: the values, if they are loaded already.
    """
    if array is None:
        if record.blocks(1) is not None:
            return _Read(record)
        array = record.load()
    return None if array is None else Source(array)


def number(element: Any) -> Number:
    """An element of an array as a Python number (bfloat16's is not a subclass of one)."""
    value: Number = element.item() if element.dtype.kind != "V" else float(element)
    return value
