"""How large a tensor's elements are but for a few: what a tolerance relative to the tensor may be measured by."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from harness.compare.scratch import Scratch
from harness.compare.source import Source

Array = np.ndarray[Any, np.dtype[Any]]

#: Elements processed together: many enough to hide numpy's overhead per call, few enough to stay in the cache.
BLOCK = 65_536
#: Number of blocks to examine; in larger tensors they are spread over the whole.
_BLOCKS = 16
#: A mask is a huge number that both sides have bit for bit (-1e4, -1e9, the lowest of a type): it never counts as the
#: size of a result, however many elements are masked.
MASK = 2.0**13
#: Elements up to which a block is counted by every exponent.
_SHORT = 4096
#: Standard deviations of a rank, as some thousand elements show it, within which it is looked for.
_DOUBT = 4
#: One element, and of many one in so many, may be as large as it likes without excusing the others.
_FEW = 64
#: The largest of normally distributed numbers is some 5 times as large as most, of Laplace's 14 times.
_TAIL = 16
#: Rows of very different size (the gradient of a classifier with thousands of classes) cancel at the size of the large
#: ones; beyond this, what is small is measured by itself.
_SPREAD = 2.0**13
_scratch = Scratch(BLOCK)


class Bulk(NamedTuple):
    """How large elements are.

    Attributes:
        size: of most.
        reach: how large an element may be and still count: what is larger is one of a few, or of another kind.
    """

    size: float
    reach: float


def stride(size: int) -> int:
    """Of a tensor of ``size`` elements, each so-many-th block is examined, the first one first."""
    return max(1, -(-size // (BLOCK * _BLOCKS)))


def examined(size: int) -> int:
    """How many blocks are examined."""
    return -(-size // (BLOCK * stride(size)))


def bulk_of(expected: Source, found: Source) -> Bulk:
    """Sizes of the expected elements that are finite and not 0; masks left out.

    ``size`` is the power of two below their median. ``reach`` is 16 times the size of the largest, the largest one (of
    many, the largest 64th) left out; at most 8192 times ``size``. Where nothing but masks is there, those of masks; 0
    where every element is 0.
    """
    bulk: Bulk | None = expected.found_out.get(found)
    for every in (False, True):
        if bulk is None:
            counter = BulkCounter(expected.size, every)
            with np.errstate(all="ignore"):  # widening a signalling NaN is no error
                for blocks in zip(expected.blocks(BLOCK), found.blocks(BLOCK), strict=True):
                    counter.add(*blocks)
            bulk = counter.bulk()
    assert bulk is not None  # counted by every exponent
    if found is not expected:  # which would keep itself alive
        expected.found_out[found] = bulk
    return bulk


def largest(numbers: Source) -> float:
    """The largest finite magnitude of floating-point or complex numbers; 0 if there is none."""
    if largest not in numbers.found_out:
        with np.errstate(all="ignore"):
            numbers.found_out[largest] = max(map(peak, numbers.blocks(BLOCK)), default=0.0)
    return float(numbers.found_out[largest])


def peak(block: Array) -> float:
    """The largest finite magnitude of a block; 0 if there is none."""
    if block.dtype in (np.float32, np.float64):
        found = max(float(block.max()), -float(block.min()))
        if math.isfinite(found):
            return found
    size = magnitudes(block)
    return float(size[np.isfinite(size)].max(initial=0.0))


class BulkCounter:
    """Finds the ``bulk_of`` a pair whose blocks are given in order.

    Only two exponents are wanted: that of the median and that of the largest but for some. Numbers are counted by the
    few exponents that these can have, judging by the first block; a comparison with a power of two costs a tenth of a
    number's exponent.

    Args:
        size: number of elements of the tensor.
        every: whether to count by every exponent.
    """

    def __init__(self, size: int, every: bool = False) -> None:
        self._size, self._stride, self._every = size, stride(size), every
        self._at = 0
        #: How many elements have each exponent, and how many masks do.
        self._counts, self._masks = Counter[int](), Counter[int]()
        #: Of blocks not counted by every exponent: number of elements, and how many are below each power of two.
        self._number = 0
        self._below: dict[int, int] = {}

    def add(self, expected: Array, found: Array) -> None:
        """Takes in the next block (1-D, ``BLOCK`` elements, the last may be shorter); warnings are the caller's."""
        self._at += 1
        if (self._at - 1) % self._stride:
            return
        size = magnitudes(expected)
        if not size[size.argmax()] < MASK:
            self._separate(size, expected, found)
        elif self._every or size.size <= _SHORT:
            _count(size if size[size.argmin()] else size[size > 0], self._counts)
        else:
            self._compare(size)

    def _compare(self, size: Array) -> None:
        """Counts the elements of a long block of finite numbers below ``MASK``."""
        nonzero = size.size if size[size.argmin()] else int(np.count_nonzero(size.view(f"i{size.itemsize}")))
        if not nonzero:
            return
        self._below = self._below or dict.fromkeys(_likely(size), 0)
        mask = _scratch.take("mask", np.bool_, size.size)
        for power in self._below:
            less = np.less(size, size.dtype.type(2.0**power), out=mask)
            self._below[power] += int(np.count_nonzero(less)) - (size.size - nonzero)
        self._number += nonzero

    def _separate(self, size: Array, expected: Array, found: Array) -> None:
        """Counts the elements of a block with masks, large numbers or such that are not finite."""
        used = np.isfinite(size) & (size > 0)
        masked = used & (size >= MASK) & np.asarray(expected == found)
        _count(size[masked], self._masks)
        _count(size[used & ~masked], self._counts)

    def bulk(self) -> Bulk | None:
        """The sizes; None if they were not counted finely enough, or before the last block."""
        if self._at * BLOCK < self._size:
            return None
        counts, number = self._counts, self._number + self._counts.total()
        if not number:
            counts, number = self._masks, self._masks.total()
        if not number:
            return Bulk(0.0, 0.0)
        few = 1 + number // _FEW if number > 1 else 0
        middle, top = (self._exponent(counts, rank) for rank in ((number + 1) // 2, number - few))
        if middle is None or top is None:
            return None
        most, largest = math.ldexp(1.0, middle - 1), 2 * math.ldexp(1.0, top - 1)
        return Bulk(most, min(_TAIL * largest, _SPREAD * most))

    def _exponent(self, counts: Counter[int], rank: int) -> int | None:
        """The smallest exponent such that ``rank`` elements have it or a smaller one; None if that is unknown."""
        exponents = sorted(counts)
        below = list(accumulate(map(counts.__getitem__, exponents)))
        if not self._number:
            return exponents[bisect_left(below, rank)]
        below = [0, *below]
        ranks = {power: number + below[bisect_right(exponents, power)] for power, number in self._below.items()}
        enough = min((power for power, number in ranks.items() if number >= rank), default=None)
        return enough if enough is not None and ranks.get(enough - 1, rank) < rank else None


def magnitudes(block: Array) -> Array:
    """``|block|`` in a type that holds it exactly; overwritten by the next."""
    if block.dtype == np.float32:
        return np.abs(block, out=_scratch.take("size", np.float32, block.size))
    return np.abs(block.astype(np.complex128 if block.dtype.kind == "c" else np.float64, copy=False))


def _likely(size: Array) -> list[int]:
    """The powers of two that count for a tensor of which this is a block with some element that is not 0."""
    some = size[:: max(1, size.size // _SHORT)]
    some = some[some > 0]
    exponents = np.sort(np.frexp(some if some.size else size[size > 0])[1])
    powers: set[int] = set()
    for share in (0.5, 1 - 1 / _FEW):
        doubt = _DOUBT * (share * (1 - share) / exponents.size) ** 0.5
        low, high = (
            exponents[int(exponents.size * min(max(each, 0.0), 0.9999))] for each in (share - doubt, share + doubt)
        )
        powers.update(range(int(low) - 1, int(high) + 1))
    return sorted(powers)


def _count(sizes: Array, counts: Counter[int]) -> None:
    """Counts numbers above 0 by exponent: those in ``[2**(k-1), 2**k)`` count at ``k``."""
    if sizes.size:
        exponents = np.frexp(sizes)[1]
        low = int(exponents[exponents.argmin()])
        exponents -= low
        counts.update({low + at: count for at, count in enumerate(np.bincount(exponents).tolist()) if count})
