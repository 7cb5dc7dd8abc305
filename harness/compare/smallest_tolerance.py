"""The smallest tolerance that would pass, for one slot and for all that fail; never rounded down."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal
from typing import NamedTuple

from harness.compare.measurement import Measurement
from harness.compare.tolerances import Tolerance
from harness.compare.verdict import Comparison


class SmallestTolerance(NamedTuple):
    """Tolerances, each of which alone would admit every element.

    Attributes:
        rtol, atol: None if none would (an expected 0, for ``rtol``).
        max_ulp: units in the last place; None if it should not be suggested.
    """

    rtol: float | None
    atol: float | None
    max_ulp: int | None

    def __str__(self) -> str:
        """``rtol=0.00101 or atol=0.0012 or max_ulp=15507``."""
        parts = [
            f"{name}={rounded_up(each)}"
            for name, each in (("rtol", self.rtol), ("atol", self.atol))
            if each is not None
        ]
        parts += [] if self.max_ulp is None else [f"max_ulp={self.max_ulp}"]
        return " or ".join(parts)


def smallest_tolerance(measurement: Measurement | None) -> SmallestTolerance | None:
    """The tolerance that would admit a slot; None if none would: NaN or infinity on one side only, integers, bools,
    equal values with different bits, slots that were not measured."""
    m = measurement
    if m is None or m.max_ulp is None or m.nonfinite or not m.max_abs:
        return None
    rtol = float(m.max_rel) if math.isfinite(m.max_rel) else None
    return SmallestTolerance(rtol, float(m.max_abs) if math.isfinite(m.max_abs) else None, m.max_ulp)


#: A tolerance is suggested only up to this many times the one in force: more would let everything pass.
_WORTH = 10


def nearby(measurement: Measurement | None, tolerance: Tolerance) -> SmallestTolerance | None:
    """The tolerances that would admit a slot and are at most ten times its own; None if there are none.

    Under equal bits none is suggested, because ten times 0 is 0.
    """
    found = smallest_tolerance(measurement)
    if found is None or measurement is None:
        return None
    kept = worth_naming(found, tolerance, measurement.counted_scale, measurement.bulk)
    return kept if kept != (None, None, None) else None


def worth_naming(found: SmallestTolerance, tolerance: Tolerance, scale: float, bulk: float) -> SmallestTolerance:
    """Of tolerances that would admit a slot, those within ten times the one in force; None in place of the others.

    Args:
        found: the tolerances that would admit it.
        tolerance: the tolerance in force.
        scale, bulk: scale and bulk of the expected tensor, see ``Tolerance.floor``.
    """
    floor = tolerance.floor(scale, bulk)
    rtol = found.rtol if found.rtol is not None and found.rtol <= _WORTH * (tolerance.rtol + tolerance.scaled) else None
    atol = found.atol if found.atol is not None and found.atol <= _WORTH * floor else None
    max_ulp = found.max_ulp if (found.max_ulp or 0) <= _WORTH * tolerance.max_ulp else None
    return SmallestTolerance(rtol, atol, max_ulp)


def would_pass(comparison: Comparison) -> SmallestTolerance | None:
    """The tolerance that would admit all failing slots, see ``nearby``; None if none would, or none is near."""
    if comparison.order is not None:
        return None
    found = [nearby(slot.measurement, slot.tolerance) for slot in comparison.failures()]
    known = [each for each in found if each is not None]
    if not found or len(known) < len(found):
        return None
    most = SmallestTolerance(*(None if None in each else max(each) for each in zip(*known, strict=True)))
    return most if most != (None, None, None) else None


def rounded_up(value: float) -> str:
    """``value`` rounded up to three digits."""
    if not value:
        return "0"
    exact = Decimal(value)
    step = Decimal(1).scaleb(exact.adjusted() - 2)
    text = f"{float(exact.quantize(step, ROUND_CEILING, Context(prec=20))):.3g}"
    return text if float(text) >= value else repr(value)
