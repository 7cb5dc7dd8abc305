"""Statistics of tensors on the host, through vectorised operations of numpy."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from harness.records import Array
from harness.stats import Statistics, describe

_ROW = 1024
#: Below this size, all sums are in float64; above it, that takes longer.
_SMALL = 8 * _ROW
#: Largest elements whose squares neither overflow in float32 nor vanish with those beside them.
_LOW, _HIGH = 1e-10, 1e15
#: Largest elements whose sum of 1024 does not overflow in float32.
_HIGHEST = 1e30
#: Bytes of small arrays that are held until they are described.
_HELD = 2**20
#: Elements compared at once: 512 KiB of truth values stay in the second cache level.
_COMPARED = 512 * _ROW


class _Masks(threading.local):
    """Reused memory of one thread, because new memory for each tensor costs more than the work on it."""

    def __init__(self) -> None:
        self.mask: Array = np.empty(_COMPARED, np.bool_)


_MASKS = _Masks()


def described(array: Array, dtype: str) -> Statistics:
    """Statistics of ``array`` (C order); of many float32 numbers the sums are in float32 within runs of 1024 and in
    float64 beyond, so that mean and norm are ``describe``'s to six digits, all else exactly."""
    if array.dtype == np.float32 and array.size and (found := _single(array.reshape(-1))) is not None:
        return found
    return describe(array, dtype)


class Bulk:
    """Statistics of many small arrays, computed together: for one alone, calling numpy costs more than its work."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Statistics, bytes]] = []
        self._size = 0

    def add(self, held: bytes) -> Statistics:
        """The statistics of float32 numbers, at least one, given by their bytes; ``flush`` fills them in."""
        made = Statistics(0.0, 0.0, 0.0, 0.0, 0, 0, 0, 0, 0, 0, 0)
        self._waiting.append((made, held))
        self._size += len(held)
        if self._size > _HELD:
            self.flush()
        return made

    def flush(self) -> None:
        """Fills in all statistics that ``add`` gave."""
        waiting, self._waiting, self._size = self._waiting, [], 0
        if not waiting:
            return
        flat = np.frombuffer(b"".join([held for _, held in waiting]), np.float32)
        counts = np.asarray([len(held) // 4 for _, held in waiting])
        starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
        with np.errstate(all="ignore"):
            low, high = np.minimum.reduceat(flat, starts).tolist(), np.maximum.reduceat(flat, starts).tolist()
            negative = np.add.reduceat(flat < 0, starts, dtype=np.int64).tolist()
            zero = np.add.reduceat(flat == 0, starts, dtype=np.int64).tolist()
            wide = flat.astype(np.float64)
            total = np.add.reduceat(wide, starts).tolist()
            norm = np.sqrt(np.add.reduceat(np.multiply(wide, wide, out=wide), starts)).tolist()
        for at, (made, held) in enumerate(waiting):
            lowest, highest, count = low[at], high[at], len(held) // 4
            if not max(-lowest, highest) <= _HIGHEST:  # nor is a NaN
                found = describe(np.frombuffer(held, np.float32), "Float32")
                for name in Statistics.__slots__:
                    setattr(made, name, getattr(found, name))
                continue
            if lowest == 0 or highest == 0:
                lowest, highest = _signed(np.frombuffer(held, np.float32), lowest, highest)
            made.max, made.min, made.avg, made.l2norm, made.count = highest, lowest, total[at] / count, norm[at], count
            made.negative_count, made.zero_count = negative[at], zero[at]
            made.positive_count = count - negative[at] - zero[at]


def _single(array: Array) -> Statistics | None:
    """For float32 [n], n > 0; None if a NaN, an infinity or the range forbids float32 sums."""
    low, high = float(np.minimum.reduce(array)), float(np.maximum.reduce(array))
    largest = max(-low, high)
    if not largest <= _HIGHEST:  # nor is a NaN
        return None
    total, norm = _sums(array, _LOW <= largest <= _HIGH)
    count = array.size
    negative = _how_many(np.less, array) if low < 0 else 0
    zero = _how_many(np.equal, array) if low <= 0 <= high else 0
    if low == 0 or high == 0:
        low, high = _signed(array, low, high)
    return Statistics(high, low, total / count, norm, count, negative, count - negative - zero, zero, 0, 0, 0)


def _how_many(compared: Any, array: Array) -> int:
    """The number of elements that compare so with 0."""
    if array.size <= _COMPARED:
        return int(np.count_nonzero(compared(array, 0, out=_MASKS.mask[: array.size])))
    return sum(_how_many(compared, array[at : at + _COMPARED]) for at in range(0, array.size, _COMPARED))


def _signed(array: Array, low: float, high: float) -> tuple[float, float]:
    """Extremes with the sign of the zeros there are: of both signs, -0.0 is the lower.

    Where the lowest is 0 only a -0.0 has the sign bit, where the highest is 0 only a +0.0 has not.
    """
    bits = array.view(np.int32)
    if low == 0:
        low = -0.0 if np.minimum.reduce(bits) < 0 else 0.0
    if high == 0:
        high = 0.0 if np.maximum.reduce(bits) >= 0 else -0.0
    return low, high


def _sums(array: Array, narrow: bool) -> tuple[float, float]:
    """Sum and norm; ``narrow``: squares of a run may be added up in float32."""
    if array.size < _SMALL:
        wide = array.astype(np.float64)
        total = float(np.add.reduce(wide))
        return total, math.sqrt(np.add.reduce(np.multiply(wide, wide, out=wide)))
    whole = array.size - array.size % _ROW
    rows = array[:whole].reshape(-1, _ROW)
    total = float(np.add.reduce(_dots(rows, _ONES), dtype=np.float64))
    if narrow:
        squares = float(np.add.reduce(_dots(rows, rows), dtype=np.float64))
    else:
        blocks = (rows[at : at + _ROW].astype(np.float64) for at in range(0, len(rows), _ROW))
        squares = sum(float(np.add.reduce(_dots(each, each))) for each in blocks)
    if whole < array.size:
        rest = array[whole:].astype(np.float64)
        total += float(np.add.reduce(rest))
        squares += float(np.add.reduce(np.multiply(rest, rest, out=rest)))
    return total, math.sqrt(squares)


def _dots(one: Array, other: Array) -> Array:
    """The sums of the products in each row of two arrays [n, m]; ``other`` may be one row."""
    if _VECDOT is not None:
        found: Array = _VECDOT(one, other)
        return found
    products: Array = np.matmul(one[:, None, :], other[..., None])
    return products.reshape(-1)


#: numpy 2 has it
_VECDOT = getattr(np, "vecdot", None)
_ONES = np.ones(_ROW, np.float32)
