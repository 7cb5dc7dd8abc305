"""The numbers of a slot that rules read: counts of NaN, infinities and zeros, extremes, mean and size.

They come from the values if those were kept, else from a row of statistics; what a row does not say stays unknown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.capture.statistic_table import RowRecord
from harness.errors import HarnessError
from harness.records import Record
from harness.stats import Digester, Statistics, digest
from harness.stats.blocks import blocks
from harness.stats.printed import COLUMNS, SIGNED_NORM, PrintedStatistics
from harness.stats.statistics import Description, describe

Array = np.ndarray[Any, np.dtype[Any]]
#: Larger tensors are described but not looked at element by element.
LOOKED_AT = 1 << 24


@dataclass(slots=True)
class Numbers:
    """What is known of one tensor's values.

    Attributes:
        count: number of elements.
        nan, inf: numbers of NaN and of infinite elements; -1 if it is unknown how many, but not 0; None if unknown.
        zero: number of zeros, or None.
        low, high, mean: extremes and mean; NaN if unknown, or if an element is.
        rms: square root of the mean square; NaN if unknown.
    """

    count: int
    nan: int | None
    inf: int | None
    zero: int | None
    low: float
    high: float
    mean: float
    rms: float

    @property
    def bad(self) -> bool | None:
        """Whether an element is NaN or infinite; None if that is unknown."""
        if self.nan is None and self.inf is None:
            return None
        return bool(self.nan or self.inf)

    @property
    def level(self) -> int | None:
        """0 finite, 1 infinite, 2 NaN; None if unknown."""
        if self.nan:
            return 2
        if self.inf:
            return 1
        return None if self.bad is None else 0

    @property
    def peak(self) -> float:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    @property
    def is_constant(self) -> bool:
        """Whether all elements are equal."""
        return self.low == self.high

    @property
    def all_zero(self) -> bool:
        """Whether every element is zero."""
        return self.count > 0 and (self.zero == self.count or (self.low == 0 and self.high == 0))


def of_statistics(found: Statistics) -> Numbers:
    """The numbers in a whole row of statistics."""
    rms = found.l2norm / math.sqrt(found.count) if found.count else 0.0
    return Numbers(
        found.count, found.nan_count, found.negative_inf_count + found.positive_inf_count, found.zero_count,
        found.min, found.max, found.avg, rms,
    )  # fmt: skip


def of_array(array: Array, dtype: str) -> Numbers:
    """The numbers of an array: sums of many floating numbers in their own precision, block by block."""
    quick = _quick(array) if array.dtype.kind == "f" and array.size > _MANY else None
    return quick or of_statistics(describe(array, dtype))


#: more elements are added in their own precision; within these sizes no square of float32 overflows or is lost
_MANY, _SMALL, _LARGE = 4096, 1e-12, 1e15


def _quick(array: Array) -> Numbers | None:
    """None if an element is not finite."""
    low, high, total, squares, zeros = math.inf, -math.inf, 0.0, 0.0, 0
    with np.errstate(all="ignore"):
        for block in blocks(array):
            most, least = float(np.maximum.reduce(block)), float(np.minimum.reduce(block))
            peak = max(most, -least)
            if not math.isfinite(peak) or not math.isfinite(least + most) or peak > 1e150:
                return None
            wide = block if _SMALL < peak < _LARGE else block.astype(np.float64)
            total, squares = total + float(np.add.reduce(wide)), squares + float(np.dot(wide, wide))
            low, high = min(low, least), max(high, most)
            if least <= 0 <= most:
                zeros += block.size - int(np.count_nonzero(block != 0))
    return Numbers(array.size, 0, 0, zeros, low, high, total / array.size, math.sqrt(squares / array.size))


def of_printed(row: Mapping[str, str], count: int) -> Numbers | None:
    """The numbers in a printed row, which may lack items; None if it has none of them."""
    if not any(item in COLUMNS or item == SIGNED_NORM for item in row):
        return None
    low, high, mean, norm = (_float(row.get(item)) for item in ("min", "max", "avg", "l2norm"))
    if math.isnan(norm):
        norm = abs(_float(row.get(SIGNED_NORM)))
    shown = [row.get(item, "").strip().lower() for item in ("min", "max", "avg", "l2norm", SIGNED_NORM)]
    nan, inf = _count(row, "nan count"), _count(row, "negative inf count", "positive inf count")
    if nan is None and any(shown[:2]):
        nan = -1 if any(text.lstrip("+-") == "nan" for text in shown[:2]) else 0
    if inf is None and any(shown[:2]) and nan == 0:
        inf = -1 if math.isinf(low) or math.isinf(high) else 0
    zero = _count(row, "zero count")
    return Numbers(count, nan, inf, zero, low, high, mean, norm / math.sqrt(count) if count else 0.0)


def _float(text: str | None) -> float:
    try:
        return float(text) if text else math.nan
    except ValueError:
        return {"true": 1.0, "false": 0.0}.get(text.strip().lower() if text else "", math.nan)


def _count(row: Mapping[str, str], *items: str) -> int | None:
    total = 0
    for item in items:
        if item not in row:
            return None
        number = _float(row[item])
        if not math.isfinite(number):
            return None
        total += int(number)
    return total


def read(record: Record) -> tuple[Numbers | None, bytes | None, Array | None]:
    """Numbers, content digest and values of a record, read once.

    Values are None if they were not kept, cannot be read, or are more than ``LOOKED_AT``.
    """
    count = math.prod(record.shape)
    if record.values is None:
        content = record.content() if isinstance(record, RowRecord) else record.digest
        return _kept(record.statistics(), count), content, None
    kept, known = record.extra.statistics, record.known_digest
    try:
        pieces = record.pieces()
        if pieces is not None and count > LOOKED_AT:
            return *_in_pieces(record, pieces), None
        array = record.load()
        if array is None:
            return _kept(kept, count), known, None
        described = kept if isinstance(kept, Statistics) else record.extra.described
        numbers = of_array(array, record.dtype) if described is None else of_statistics(described)
        return numbers, known or digest(array, record.dtype), array
    except HarnessError:
        return _kept(kept, count), known, None


def _kept(kept: Any, count: int) -> Numbers | None:
    if isinstance(kept, Statistics):
        return of_statistics(kept)
    return of_printed(kept, count) if isinstance(kept, PrintedStatistics) else None


def _in_pieces(record: Record, pieces: Iterable[Array]) -> tuple[Numbers, bytes | None]:
    running, hashed = Description(record.dtype), None
    for piece in pieces:
        if hashed is None:
            hashed = Digester(record.dtype, record.shape, piece.dtype)
        running.take(piece)
        hashed.take(piece)
    return of_statistics(running.result()), hashed.digest() if hashed else None


def limit(dtype: str) -> float:
    """The largest finite number of a floating dtype (``Float16``: 65504)."""
    return {"Float16": 65504.0, "BFloat16": 3.3895313892515355e38, "Float64": float(np.finfo(np.float64).max)}.get(
        dtype, float(np.finfo(np.float32).max)
    )


def rounding(dtype: str) -> float:
    """The relative distance of neighbouring numbers of a floating dtype (``Float32``: 1.19e-07)."""
    return {"Float16": 2.0**-10, "BFloat16": 2.0**-7, "Float64": 2.0**-52}.get(dtype, 2.0**-23)


def smallest_normal(dtype: str) -> float:
    """The smallest number of a floating dtype with all its digits (``Float16``: 6.1e-05)."""
    return {"Float16": 2.0**-14, "Float64": 2.0**-1022}.get(dtype, 2.0**-126)
