"""The statistics MindSpore's Dump knows, in one pass over an array.

The meaning of each number, and the effect of NaN, infinities and negative zeros, follow measured rows of MindSpore's
host-side ``statistic.csv`` writer; sums are in float64 and have one fixed order (``sums``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.stats.blocks import BUFFERS, blocks, flat_view
from harness.stats.digest import checked_dtype
from harness.stats.sums import LaneSums

Array = np.ndarray[Any, np.dtype[Any]]


# Not frozen, although nobody changes one: frozen objects take four times as long to make, and each row of a file needs
# one.
@dataclass(slots=True, unsafe_hash=True)
class Statistics:
    """Statistics of one tensor.

    For a complex tensor the numbers are those of its real and imaginary parts taken as one sequence (so ``count`` is
    twice the number of elements and ``l2norm`` is the usual norm). 64-bit integers are rounded to float64 first.

    Attributes:
        max: the largest element; NaN if any element is; ``-inf`` for an empty tensor. Of zeros of both signs +0.0.
        min: the smallest element; NaN if any element is; ``inf`` for an empty tensor. Of zeros of both signs -0.0.
        avg: mean; NaN if any element is, if both infinities occur, or if the tensor is empty.
        l2norm: square root of the sum of squares; NaN if any element is.
        count: number of elements.
        negative_count: number of elements < 0, including ``-inf`` (``Negative Zero Count`` of a ``statistic.csv``).
        positive_count: number of elements > 0, including ``inf`` (``Positive Zero Count`` of a ``statistic.csv``).
        zero_count: number of zeros of either sign.
        nan_count: number of NaN elements.
        negative_inf_count: number of ``-inf`` elements.
        positive_inf_count: number of ``inf`` elements.

    Examples:
        >>> import numpy as np
        >>> from harness.stats import describe
        >>> found = describe(np.float32([[1, -2], [np.nan, 4]]), "Float32")
        >>> found.count, found.nan_count, found.negative_count, describe(np.float32([3, 4]), "Float32").l2norm
        (4, 1, 1, 5.0)
    """

    max: float
    min: float
    avg: float
    l2norm: float
    count: int
    negative_count: int
    positive_count: int
    zero_count: int
    nan_count: int
    negative_inf_count: int
    positive_inf_count: int


def describe(array: Array, dtype_name: str) -> Statistics:
    """Statistics of ``array`` (any shape, also 0-d and empty), in one pass in cache-sized blocks.

    The result has the same bits on every processor.

    Args:
        array: its numpy dtype must be the one that holds ``dtype_name``.
        dtype_name: MindSpore dtype name in any case.

    Raises:
        DtypeError: ``dtype_name`` is unknown, or not what ``array`` holds.

    Examples:
        >>> import numpy as np
        >>> from harness.stats import describe
        >>> found = describe(np.float32([[1, -2], [np.nan, 4]]), "Float32")
        >>> found.count, found.nan_count, found.negative_count, describe(np.float32([3, 4]), "Float32").l2norm
        (4, 1, 1, 5.0)
    """
    running = Description(dtype_name)
    with np.errstate(all="ignore"):
        running.take_quietly(array)
        return running.finish()


class Description:
    """The statistics of a tensor that comes in pieces: the same bits as those of the whole one.

    Args:
        dtype_name: as for ``describe``.

    Examples:
        >>> import numpy as np
        >>> from harness.stats import Description, describe
        >>> whole, running = np.arange(100, dtype=np.float32), Description("Float32")
        >>> running.take(whole)
        >>> running.result() == describe(whole, "Float32")
        True
    """

    def __init__(self, dtype_name: str) -> None:
        self._dtype = dtype_name
        self.high = -math.inf
        self.low = math.inf
        self.count = self.negative = self.zero = self.nan = self.negative_inf = self.positive_inf = 0
        self.sums = LaneSums()

    def take(self, piece: Array) -> None:
        """Takes the next elements.

        Args:
            piece: elements in C order; of all pieces but the last, a multiple of ``blocks.BLOCK``.

        Raises:
            DtypeError: as ``describe``.
        """
        with np.errstate(all="ignore"):
            self.take_quietly(piece)

    def take_quietly(self, piece: Array) -> None:
        """``take`` of ``piece``, inside the caller's ``errstate``."""
        checked_dtype(piece.dtype, self._dtype)
        for block in blocks(flat_view(piece)):
            self._add(block)

    def _add(self, block: Array) -> None:
        """Adds a block of ``blocks``."""
        self.count += block.size
        high, low = float(np.maximum.reduce(block)), float(np.minimum.reduce(block))
        if block.dtype.kind == "f":
            if not math.isfinite(high) or not math.isfinite(low):
                self._count_nonfinite(block)
            high, low = _signed_zeros(block, high, low)
        self._widen(high, low)
        mask = BUFFERS.mask[: block.size]
        if not low >= 0:
            self.negative += int(np.count_nonzero(np.less(block, 0, out=mask)))
        if not (low > 0 or high < 0):
            self.zero += int(np.count_nonzero(np.equal(block, 0, out=mask)))
        self.sums.add(block)

    def _widen(self, high: float, low: float) -> None:
        # copysign decides between zeros of different sign; NaN never wins here, ``nan`` remembers it.
        if high > self.high or (high == self.high == 0 and math.copysign(1, high) > 0):
            self.high = high
        if low < self.low or (low == self.low == 0 and math.copysign(1, low) < 0):
            self.low = low

    def _count_nonfinite(self, block: Array) -> None:
        mask = BUFFERS.mask[: block.size]
        self.nan += int(np.count_nonzero(np.isnan(block, out=mask)))
        self.positive_inf += int(np.count_nonzero(np.equal(block, math.inf, out=mask)))
        self.negative_inf += int(np.count_nonzero(np.equal(block, -math.inf, out=mask)))

    def result(self) -> Statistics:
        """The statistics of all elements taken."""
        with np.errstate(all="ignore"):
            return self.finish()

    def finish(self) -> Statistics:
        """``result``, inside the caller's ``errstate``."""
        total, squares = self.sums.results()
        high, low, avg, norm = self.high, self.low, math.nan, math.sqrt(squares) if squares >= 0 else math.nan
        if self.nan:
            high = low = norm = math.nan
        elif self.count and not (self.negative_inf and self.positive_inf):
            avg = total / self.count
        if math.isnan(avg):
            avg = math.nan  # one NaN for all processors: the hardware's has a sign bit on some
        return Statistics(
            high, low, avg, norm, self.count, self.negative, self.count - self.negative - self.zero - self.nan,
            self.zero, self.nan, self.negative_inf, self.positive_inf,
        )  # fmt: skip


def _signed_zeros(block: Array, high: float, low: float) -> tuple[float, float]:
    """Extremes with the right sign of zero, which numpy's reductions leave to chance.

    Where the minimum is 0, no element is negative, so that, read as integers, only a -0.0 is below 0. Where the
    maximum is 0, no element is positive, so that only a +0.0 reads as the integer 0 and all else is below.
    """
    if high != 0 and low != 0:
        return high, low
    words = block.view(np.int32 if block.itemsize == 4 else np.int64)
    if low == 0:
        low = -0.0 if np.minimum.reduce(words) < 0 else 0.0
    if high == 0:
        high = 0.0 if np.maximum.reduce(words) >= 0 else -0.0
    return high, low
