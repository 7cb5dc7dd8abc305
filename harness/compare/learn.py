"""Tolerances from evidence: how far each slot of a run scatters when nothing was changed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.errors import ToleranceError

#: Up to so many units in the last place, the distance in units says more than a size does.
_FEW_ULP = 8


@dataclass(frozen=True, slots=True)
class Scatter:
    """How far one slot scattered, over all iterations and runs.

    Attributes:
        name: ``<operator>:<slot>``.
        max_ulp: largest distance in units in the last place.
        scaled: largest error over the largest magnitude of its tensor.
        reason: why no tolerance can be learned from it (NaN against numbers, integers, shapes, missing); else empty.
    """

    name: str
    max_ulp: int
    scaled: float
    reason: str = ""

    def tolerance(self, margin: float) -> dict[str, float | int]:
        """What admits ``margin`` times as much as was seen: units where there were few, else relative to the tensor."""
        if self.max_ulp <= _FEW_ULP:
            return {"max_ulp": math.ceil(self.max_ulp * margin)}
        return {"scaled": _rounded_up(self.scaled * margin)}


def scatter(comparisons: Iterable[Comparison]) -> list[Scatter]:
    """The slots that are not bit-exact in every comparison, in the order they were first seen to scatter.

    Args:
        comparisons: of runs of one network with one another, everything measured.
    """
    found: dict[str, Scatter] = {}
    for comparison in comparisons:
        for slot in comparison.slots:
            if slot.verdict is not Verdict.IDENTICAL:
                seen = _scatter(slot)
                before = found.get(seen.name, seen)
                found[seen.name] = Scatter(
                    seen.name, max(seen.max_ulp, before.max_ulp), max(seen.scaled, before.scaled),
                    before.reason or seen.reason,
                )  # fmt: skip
    return list(found.values())


def _scatter(slot: SlotVerdict) -> Scatter:
    name = f"{slot.key.operator}:{slot.key.slot_name}"
    m = slot.measurement
    if m is None or m.max_ulp is None or m.nonfinite or not math.isfinite(m.max_abs):
        return Scatter(name, 0, 0.0, slot.reason or "it cannot be measured")
    return Scatter(name, m.max_ulp, float(m.max_abs) / m.scale if m.scale else math.inf)


def learned(scattered: Iterable[Scatter], margin: float) -> dict[str, Any]:
    """A table of tolerances (see ``Tolerances.parse``): exact, but for each slot that scatters by as much as it may.

    Raises:
        ToleranceError: ``margin`` is below 1.
    """
    if not 1 <= margin < math.inf:
        raise ToleranceError(f"a margin is a number of at least 1; given was {margin!r}")
    table: dict[str, Any] = {"default": "exact"}
    for each in scattered:
        if not each.reason and math.isfinite(each.scaled):
            table[_literally(each.name)] = each.tolerance(margin)
    return table


def _literally(name: str) -> str:
    """A pattern that matches ``name`` and nothing else."""
    return re.sub(r"([*?[])", r"[\1]", name)


def _rounded_up(value: float) -> float:
    """Three digits, not less than ``value``."""
    if not value:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    return float(f"{math.ceil(value / step) * step:.3g}")
