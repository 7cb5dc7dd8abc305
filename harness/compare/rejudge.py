"""Judges a stored comparison again under other tolerances: no run is read, its measures are enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.compare.policy import exit_code
from harness.compare.smallest_tolerance import SmallestTolerance, rounded_up, worth_naming
from harness.compare.table import needed_tolerance_of
from harness.compare.tolerances import Tolerance, Tolerances
from harness.compare.verdict import Verdict
from harness.dtypes import by_name
from harness.records import SlotKey

Slot = Mapping[str, Any]
WITHIN, OUTSIDE, UNSURE = "within tolerance", "differs", "cannot tell"
_ANSWERS = {True: WITHIN, False: OUTSIDE, None: UNSURE}


@dataclass(frozen=True)
class Rejudgement:
    """The result of judging a stored comparison again.

    Attributes:
        identical: number of slots that agree under every tolerance.
        counts: number of other slots by verdict.
        failing: a line for each slot that does not hold.
        other_differences: whether something differs that no tolerance accepts: the order, a name, a text.
        other_results: whether results other than slots were compared.
        lost: number of files that could not be used, so that what they hold was not compared.
    """

    identical: int
    counts: Counter[str]
    failing: Sequence[str]
    other_differences: bool
    other_results: bool
    lost: int = 0

    @property
    def code(self) -> int:
        """The exit code, see ``harness.compare.policy.Judgement.code``."""
        empty = not self.counts.total() and not self.identical and not self.other_results
        differs = bool(self.counts[OUTSIDE]) or self.other_differences
        return exit_code(differs=differs, unsure=bool(self.counts[UNSURE] or self.lost) or empty)


def rejudged(comparison: Mapping[str, Any], tolerances: Tolerances) -> Rejudgement:
    """Judges every slot of a comparison, as ``msdump diff --json`` writes it, under other tolerances.

    Raises:
        ValueError, KeyError, TypeError: the comparison is damaged.
    """
    verdicts = [(_verdict(slot, tolerances), slot) for slot in comparison["slots"]]
    known = [comparison["counts"].get(each.value, 0) for each in (Verdict.IDENTICAL, Verdict.STATISTICS)]
    if any(type(count) is not int or count < 0 for count in known):
        raise ValueError(f"the counts of slots that agree are {str(known)[:80]}")
    texts, lost = comparison.get("texts_hold"), comparison.get("lost", 0)  # 0.1.0 did not note it
    if type(lost) is not int or lost < 0:
        raise ValueError(f"the number of files that could not be used is {str(lost)[:80]}")
    return Rejudgement(
        identical=sum(known),
        counts=Counter(verdict for verdict, _ in verdicts),
        failing=[_told(slot, tolerances) for verdict, slot in verdicts if verdict != WITHIN],
        other_differences=texts is False
        or any(bool(comparison.get(name)) for name in ("order_changed", "renamed", "altered")),
        other_results=texts is not None,
        lost=lost,
    )


def _verdict(slot: Slot, tolerances: Tolerances) -> str:
    if slot["verdict"] in (Verdict.NOT_COMPARED.value, Verdict.ACCEPTED.value):
        return UNSURE if slot["verdict"] == Verdict.NOT_COMPARED.value else WITHIN
    if slot["verdict"] in (Verdict.MISSING.value, Verdict.UNEXPECTED.value):
        return OUTSIDE
    tolerance = _tolerance(slot, tolerances)
    needed = needed_tolerance_of(slot)
    if (slot["verdict"] == Verdict.UNSURE.value or slot.get("by_statistics")) and not tolerance.exact:
        # The statistics themselves are not kept: what was said under this tolerance is all that is known.
        said = slot["verdict"] if slot["tolerance"] == str(tolerance) else UNSURE
        return WITHIN if said == Verdict.STATISTICS.value else said
    if needed is None or tolerance.exact:
        return OUTSIDE
    if slot["smallest_rtol"] is not None and tolerance.rtol >= float(slot["smallest_rtol"]):
        return WITHIN  # known exactly, while the needed tolerance only has bounds
    answer = needed.admits(tolerance)
    if answer is None and slot["tolerance"] == str(tolerance) and slot["verdict"] in (WITHIN, OUTSIDE):
        return str(slot["verdict"])  # the values themselves were judged under it
    return _ANSWERS[answer]


def _tolerance(slot: Slot, tolerances: Tolerances) -> Tolerance:
    io, _, number = slot["slot"].partition(".")
    where = (slot["rank"], slot["graph"], slot["iteration"], slot["operator"], slot["execution"], io, int(number))
    return tolerances.of(SlotKey(*where), slot["type"], by_name(slot["dtype"]).name)


def _told(slot: Slot, tolerances: Tolerances) -> str:
    """A slot that does not hold, and the tolerance that would accept it, if that is at most ten times the requested
    one."""
    needed, tolerance = needed_tolerance_of(slot), _tolerance(slot, tolerances)
    accepted: list[str] = []
    if needed is not None:
        known = [None if each in (None, "inf", "nan") else float(each)
                 for each in (slot["smallest_rtol"], slot["smallest_atol"])]  # fmt: skip
        smallest = SmallestTolerance(known[0], known[1], needed.max_ulp)
        kept = worth_naming(smallest, tolerance, needed.scale, needed.bulk)
        accepted = [f"{name}={rounded_up(each)}" for name, each in (("rtol", kept.rtol), ("atol", kept.atol)) if each]
        accepted += [f"max_ulp={kept.max_ulp}"] if kept.max_ulp else []
    passes = f"; it would pass with {' or '.join(accepted)}" if accepted else ""
    return f"  iteration {slot['iteration']}, {slot['operator']} {slot['slot']}: {slot['reason']}{passes}"
