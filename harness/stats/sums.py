"""Sums whose bits do not depend on the processor.

A sum of float64 rounds at every step, so its last bits depend on the order of additions; the order numpy or a BLAS
chooses may change with the width of the vector unit. Statistics are stored, so here the order is fixed:

1. elements are taken in blocks of ``blocks.BLOCK``; a block is rows of ``blocks.LANES`` numbers, the last row filled
   with 0;
2. a block's lanes are added row by row, from the first to the last;
3. the blocks' lanes are added, from the first to the last;
4. neighbouring lanes are added, pair by pair, until one number is left. (Neighbours, not halves: of a few numbers
   this is nearest to the order of a plain loop, which the original's statistics use.)

Only element-wise multiplications and additions happen, each rounded once, so no fused multiply-add can slip in.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.stats.blocks import BUFFERS, LANES

Array = np.ndarray[Any, np.dtype[Any]]


class LaneSums:
    """Running sum and sum of squares, in float64."""

    def __init__(self) -> None:
        self._totals = np.zeros((2, LANES))
        self._used = 1

    def add(self, block: Array) -> None:
        """Adds the numbers of one block (1-D, at least 1 and at most ``blocks.BLOCK``)."""
        size = block.size
        rows = -(-size // LANES)
        width = LANES if rows > 1 else _power_of_two(size)
        wide = BUFFERS.wide[: rows * width]
        np.copyto(wide[:size], block)
        wide[size:] = 0.0
        self._used = max(self._used, width)
        table = wide.reshape(rows, width)
        totals = self._totals[:, :width]
        totals[0] += np.add.reduce(table, axis=0)
        np.multiply(wide, wide, out=wide)
        totals[1] += np.add.reduce(table, axis=0)

    def results(self) -> tuple[float, float]:
        """Sum, and sum of squares, of everything added so far."""
        # Lanes beyond ``_used`` (a power of two) are 0 and would add nothing.
        lanes = self._totals[:, : self._used]
        while lanes.shape[1] > 1:
            lanes = lanes[:, 0::2] + lanes[:, 1::2]
        return float(lanes[0, 0]), float(lanes[1, 0])


def _power_of_two(size: int) -> int:
    return 1 << (size - 1).bit_length()
