"""Learns tolerances from evidence: how far each slot scatters between unchanged runs."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.compare.noise import noise_floor, summands_of
from harness.compare.smallest_tolerance import rounded_up
from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.errors import ToleranceError
from harness.records import SlotKey
from harness.store import RunData, StoredRun

_CHANGED = "the runs agree with one another but not with the golden: this is a change, not scatter"
#: Up to this many units in the last place, the distance in units says more than a relative size.
_FEW_ULP = 8


@dataclass(frozen=True, slots=True)
class Scatter:
    """How far one slot scattered, over all iterations and runs.

    Attributes:
        name: ``<operator>:<slot>``.
        max_ulp: largest distance in units in the last place.
        scaled: largest error over the largest magnitude of its tensor; infinite where that is zero throughout, or where
            the error is above a tenth of what most elements are (no relative tolerance admits it).
        floors: how many times the noise floor of its operator the largest error is (see ``noise``).
        max_abs: largest error.
        reason: why no tolerance can be learned from it (NaN against numbers, integers, shapes, missing); else empty.
    """

    name: str
    max_ulp: int
    scaled: float
    reason: str = ""
    max_abs: float = 0.0
    floors: float = 0.0

    def tolerance(self, margin: float) -> dict[str, float | int]:
        """What admits ``margin`` times as much as was seen: in units if there were few, else relative to the tensor
        (absolute if the golden is zero throughout)."""
        if self.max_ulp <= _FEW_ULP:
            return {"max_ulp": math.ceil(self.max_ulp * margin)}
        if math.isinf(self.scaled):
            return {"atol": float(rounded_up(self.max_abs * margin))}
        return {"scaled": float(rounded_up(self.scaled * margin))}


class Learning:
    """Collects the scatter of unchanged runs, one comparison with the golden run after the other.

    Attributes:
        runs: number of runs.
    """

    def __init__(self) -> None:
        self.runs = 0
        self._seen: dict[str, Scatter] = {}
        self._found: dict[str, dict[SlotKey, Counter[bytes | None]]] = {}

    def add(self, comparison: Comparison) -> None:
        """Adds the comparison of one more run with the golden one, with everything measured."""
        self.runs += 1
        if comparison.order is not None:
            name = comparison.order.found[3]
            self._seen.setdefault(name, Scatter(name, 0, 0.0, "its execution stands at another place"))
        terms = summands_of(comparison.slots)
        for slot in comparison.slots:
            if slot.verdict is not Verdict.IDENTICAL:
                seen = _scatter(slot, terms.get(slot.key[:5], 1))
                before = self._seen.get(seen.name, seen)
                self._seen[seen.name] = Scatter(
                    seen.name, max(seen.max_ulp, before.max_ulp), max(seen.scaled, before.scaled),
                    before.reason or seen.reason, max(seen.max_abs, before.max_abs),
                    max(seen.floors, before.floors),
                )  # fmt: skip
                digests = self._found.setdefault(seen.name, {}).setdefault(slot.key, Counter())
                digests[comparison.digests.get(slot.key, (None, None))[1]] += 1

    def scattered(self) -> list[Scatter]:
        """The slots that are not bit-exact in every run, in the order they were first seen to scatter.

        If several runs agree with one another but not with the golden, that is a change, which no tolerance should
        hide: such a slot has a ``reason``.
        """
        return [
            replace(each, reason=_CHANGED) if not each.reason and self._changed(each.name) else each
            for each in self._seen.values()
        ]

    def _changed(self, name: str) -> bool:
        seen = self._found.get(name, {})
        return self.runs > 1 and all(list(found.values()) == [self.runs] for found in seen.values())


def scatter(comparisons: Iterable[Comparison]) -> list[Scatter]:
    """The result of ``Learning.scattered`` for these comparisons."""
    learning = Learning()
    for comparison in comparisons:
        learning.add(comparison)
    return learning.scattered()


def _scatter(slot: SlotVerdict, terms: int) -> Scatter:
    name = f"{slot.key.operator}:{slot.key.slot_name}"
    m = slot.measurement
    if m is None or m.max_ulp is None or m.nonfinite or not math.isfinite(m.max_abs):
        return Scatter(name, 0, 0.0, slot.reason or "it cannot be measured")
    size = float(m.max_abs)
    relative = size / m.counted_scale if m.counted_scale else math.inf if size else 0.0
    floors = relative / noise_floor(slot.dtype, terms)
    return Scatter(name, m.max_ulp, math.inf if size > m.bulk / 10 else relative, max_abs=size, floors=floors)


def learned(scattered: Iterable[Scatter], margin: float) -> dict[str, Any]:
    """A table of tolerances (see ``Tolerances.parse``): exact, except for each slot that scatters.

    Raises:
        ToleranceError: ``margin`` is below 1.
    """
    if not 1 <= margin < math.inf:
        raise ToleranceError(f"a margin is a number of at least 1; given was {margin!r}")
    table: dict[str, Any] = {"default": "exact"}
    for each in scattered:
        if not each.reason:
            table[_literally(each.name)] = each.tolerance(margin)
    return table


def remembered(run: StoredRun, table: dict[str, Any], runs: int, margin: float) -> RunData:
    """The unchanged run, with the table learned for it.

    Args:
        table: table from ``learned``.
        runs, margin: the number of runs and the margin it was learned from.
    """
    attrs = {**run.attrs, "tolerance": table, "learned": {"runs": runs, "margin": margin}}
    return RunData(list(run.records()), run.artefacts(), attrs, run.level, run.declared)


#: A spread above this many noise floors is not rounding.
_FLOORS = 10


def refusal(found: Sequence[Scatter], runs: int, force: bool, flag: str = "--force") -> str:
    """Says why nothing should be learned; empty if all is well.

    Args:
        found: the slots that scatter.
        runs: number of runs.
        force: whether one run is enough, and any spread that a tolerance admits.
        flag: flag that sets ``force``.
    """
    if any(each.reason for each in found):
        return "some slots scatter in a way no tolerance admits"
    if force or not found:
        return ""
    if runs < 2:
        return f"one run shows no scatter: a change of the network would be learned as noise ({flag} learns from it)"
    far = [each for each in found if each.floors > _FLOORS]
    if not far:
        return ""
    most = max(far, key=lambda each: each.floors)
    return (
        f"{len(far)} of {len(found)} scatter by more than {_FLOORS} times what rounding explains, most "
        f"{most.name}: {most.floors:.3g} times ({flag} learns from it)"
    )


def _literally(name: str) -> str:
    """A pattern that matches only ``name``."""
    return re.sub(r"([*?[])", r"[\1]", name)
