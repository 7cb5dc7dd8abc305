"""Measures nearly equal float32 arrays in float32: faster, with the same result.

Two numbers of one sign at most 2**23 representable ones apart differ by a float32: nothing is rounded. Rounded values
(quotients, products with a tolerance) only select elements; the selected few are computed exactly, as in ``Floats``. A
block with anything else (NaN, infinities, another sign, very small or large numbers) is left to ``Floats``.
"""

from __future__ import annotations

import numpy as np

from harness.compare.accumulator import Array
from harness.compare.float32_scan import LARGEST, SMALLEST, Seen, new, scan
from harness.compare.floats import BlockErrors, Floats
from harness.compare.measurement import THOUSANDTHS
from harness.compare.needed_tolerance import RUNGS

#: Tolerances whose products with magnitudes are neither subnormal nor infinite.
_TOLERANCES = (2.0**-26, 2.0**20)
#: Relative bound above the effect of a few float32 roundings (each 2**-24).
_SLACK = 2.0**-21


class Near(Floats):
    """``Floats`` of float32."""

    def add(self, start: int, expected: Array, found: Array) -> None:
        """Takes in a block; see ``Accumulator.add``."""
        seen = scan(expected, found)
        if seen is None:
            super().add(start, expected, found)
            return
        squares, shared, error_squares, error, relative = seen.sums
        # (e + d)**2 and e * (e + d)
        found_squares, product = squares + 2 * shared + error_squares, squares + shared
        self.totals += squares, found_squares, product, error, error_squares, relative
        self.finite += expected.size
        self.nonzero += seen.nonzero
        self.scale = max(self.scale, seen.scale)
        if seen.unequal:
            self.unequal += seen.unequal
            if self.first is None:
                self.first = start + int((seen.few != 0).argmax())
            self._take(start, (expected, found), seen)

    def _take(self, start: int, raw: tuple[Array, Array], seen: Seen) -> None:
        """Adds the errors of a block."""
        steps, size, error, relative = seen.steps, seen.size, seen.error, seen.relative
        largest = float(error[seen.top])
        self.abs.take(start + seen.top, largest)
        if seen.furthest > self.ulp.value:
            self.ulp.add(start, steps)
        self._count_steps(seen)
        worst = seen.worst * (1 + _SLACK)
        if worst > self.rel.value:
            chosen = np.flatnonzero(_above(relative, worst * (1 - 3 * _SLACK)))
            self.rel.add_at(start, chosen, error[chosen].astype(np.float64) / size[chosen])
        self._thousandths(relative, worst, error, size)
        self._rise((error, size, relative, steps), largest, worst)
        if self.tolerance.exact:
            self.outside += seen.unequal
        elif worst > self.tolerance.rtol and largest > self.floor:
            self._admit(BlockErrors(start, raw, raw, size, error, relative, steps, worst))

    def _count_steps(self, seen: Seen) -> None:
        """As ``Floats._count``."""
        step, bound = 0, 0
        while bound < seen.furthest:
            if step == len(self.ulp_counts):
                self.ulp_counts.append(0)
            self.ulp_counts[step] += int(np.count_nonzero(_above(seen.few, bound))) if step else seen.unequal
            step, bound = step + 1, 1 << step

    def _thousandths(self, relative: Array, worst: float, error: Array, size: Array) -> None:
        """Counts relative errors beyond each limit; those about as large as it are computed again."""
        for which, limit in enumerate(THOUSANDTHS):
            if worst > limit:
                surely = int(np.count_nonzero(_above(relative, limit * (1 + _SLACK))))
                perhaps = _above(relative, limit * (1 - _SLACK))
                if np.count_nonzero(perhaps) > surely:
                    surely = int(np.count_nonzero(error[perhaps].astype(np.float64) / size[perhaps] > limit))
                self.beyond[which] += surely

    def _rise(self, parts: tuple[Array, Array, Array, Array], largest: float, worst: float) -> None:
        """Like ``Floats._climb``, if the result can still rise.

        Args:
            parts: errors, magnitudes and relative errors, float32; steps.
            largest, worst: upper bounds of errors and relative ones.
        """
        error, size, relative, steps = parts
        for rung, rtol in enumerate(RUNGS):
            if rtol >= worst:
                return
            # error - rtol * size = error * (1 - rtol / relative)
            bound = largest * (1 - rtol / worst) * (1 + _SLACK)
            if bound <= min(self.every[rung], self.apart[rung]):
                continue
            if rung:
                chosen = _above(relative, rtol * (1 - _SLACK))
                if np.count_nonzero(chosen) < chosen.size // 8:
                    error, size, relative, steps = (array[chosen] for array in (error, size, relative, steps))
            needed = error
            if rung:
                needed = np.multiply(size, np.float32(-rtol), out=new("needed", size))
                np.add(needed, error, out=needed)
            value, at = _most(needed, (error, size), rtol, largest)
            self.every[rung] = max(self.every[rung], value)
            if value > self.apart[rung] and steps[at] <= 1:
                far = np.where(steps > 1, needed, np.float32(-np.inf))
                value, _ = _most(far, (error, size), rtol, largest)
            self.apart[rung] = max(self.apart[rung], value)

    def _admit(self, block: BlockErrors) -> None:
        """As ``Floats._judge``, of a block in float32."""
        rtol, floor, max_ulp = self.tolerance.rtol, self.floor, self.tolerance.max_ulp
        if not (_TOLERANCES[0] < rtol < _TOLERANCES[1] and float(SMALLEST) < floor < float(LARGEST)):
            # Its errors and magnitudes as float64 choose as float64 does.
            block.error, block.size = block.error.astype(np.float64), block.size.astype(np.float64)
            self._judge(block, block.ulps != 0, None)
            return
        part = np.multiply(block.size, np.float32(rtol), out=new("needed", block.size))
        np.add(part, np.float32(floor), out=part)
        np.divide(block.error, part, out=part)
        np.copyto(part, 0, where=np.less_equal(block.ulps, max_ulp, out=new("mask", part, np.bool_)))
        worst = float(part[part.argmax()])
        if worst <= 1 - _SLACK:
            return
        outside = int(np.count_nonzero(_above(part, 1 + _SLACK)))
        perhaps = _above(part, 1 - _SLACK)
        if np.count_nonzero(perhaps) > outside:
            excess = self._excess(block, np.flatnonzero(perhaps))
            outside = int(np.count_nonzero(excess))
        self.outside += outside
        if outside and worst * (1 + _SLACK) > self.excess.value:
            chosen = np.flatnonzero(_above(part, worst * (1 - 2 * _SLACK)))
            self.excess.add_at(block.start, chosen, self._excess(block, chosen))

    def _excess(self, block: BlockErrors, chosen: Array) -> Array:
        """The errors of some elements relative to what is admitted; 0 for admitted ones."""
        error, size = block.error[chosen].astype(np.float64), block.size[chosen].astype(np.float64)
        admitted = self.floor + self.tolerance.rtol * size
        return np.where(error > admitted, error / admitted, 0.0)


def _above(numbers: Array, limit: float) -> Array:
    """Where ``numbers`` are above ``limit``, in their type; until it is asked for again."""
    mask: Array = np.greater(numbers, numbers.dtype.type(limit), out=new("mask", numbers, np.bool_))
    return mask


def _most(needed: Array, parts: tuple[Array, Array], rtol: float, largest: float) -> tuple[float, int]:
    """The largest ``error - rtol * size`` of the elements for which it is above 0, and where; 0 if there is none.

    Args:
        needed: the same in float32; -infinity for elements that do not count.
        parts: errors and magnitudes, float32.
        largest: an upper bound of the errors.
    """
    at = int(needed.argmax()) if needed.size else 0
    top = float(needed[at]) if needed.size else -np.inf
    if not rtol or top < -_SLACK * largest:
        return max(top, 0.0), at
    chosen = np.flatnonzero(_above(needed, top - 2 * _SLACK * largest))
    error, size = (part[chosen].astype(np.float64) for part in parts)
    values = np.where(error / size > rtol, error - rtol * size, 0.0)
    best = int(values.argmax())
    return float(values[best]), int(chosen[best])
