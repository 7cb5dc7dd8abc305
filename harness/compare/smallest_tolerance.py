"""The smallest tolerance that would pass: of one slot, and of all that fail; never rounded down."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_CEILING, Context, Decimal
from typing import NamedTuple

from harness.compare.measurement import Measurement


class Least(NamedTuple):
    """Tolerances each of which alone would admit every element.

    Attributes:
        rtol, atol: None where none would do (something against 0 for ``rtol``).
        max_ulp: units in the last place.
    """

    rtol: float | None
    atol: float | None
    max_ulp: int

    def __str__(self) -> str:
        """``rtol=0.00101 or atol=0.0012 or max_ulp=15507``."""
        parts = [
            f"{name}={rounded_up(each)}"
            for name, each in (("rtol", self.rtol), ("atol", self.atol))
            if each is not None
        ]
        return " or ".join([*parts, f"max_ulp={self.max_ulp}"])


def least(measurement: Measurement | None) -> Least | None:
    """What would admit a slot; None where nothing would: NaN or infinity against something else, integers, bools,
    equal values of other bits, what was not measured."""
    m = measurement
    if m is None or m.max_ulp is None or m.nonfinite or not m.max_abs:
        return None
    rtol = float(m.max_rel) if math.isfinite(m.max_rel) else None
    return Least(rtol, float(m.max_abs) if math.isfinite(m.max_abs) else None, m.max_ulp)


def least_of(measurements: Iterable[Measurement | None]) -> Least | None:
    """What would admit all of several slots; None where nothing would, or there is none."""
    found = [least(each) for each in measurements]
    known = [each for each in found if each is not None]
    if not found or len(known) < len(found):
        return None
    rtol, atol = ([getattr(each, name) for each in known] for name in ("rtol", "atol"))
    return Least(
        None if None in rtol else max(rtol), None if None in atol else max(atol), max(each.max_ulp for each in known)
    )


def rounded_up(value: float) -> str:
    """Three digits, not less than ``value``."""
    if not value:
        return "0"
    exact = Decimal(value)
    step = Decimal(1).scaleb(exact.adjusted() - 2)
    text = f"{float(exact.quantize(step, ROUND_CEILING, Context(prec=20))):.3g}"
    return text if float(text) >= value else repr(value)
