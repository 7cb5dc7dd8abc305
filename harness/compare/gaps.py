"""Slots that could not be read: a verdict of their own, which holds only where somebody named them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from harness.compare.verdict import Comparison, SlotVerdict, Uncompared, Verdict
from harness.errors import SettingError
from harness.records import Gap, SlotKey

GOLDEN, RUN = "the golden", "this run"


def patterns_of(given: Any) -> tuple[str, ...]:
    """The patterns that name gaps.

    Args:
        given: None, a pattern, or a list of patterns. A pattern is compared with ``OPERATOR:input.0`` and with the
            operator's name alone; ``*``, ``?`` and ``[...]`` as for file names, ``*`` also for slashes.

    Raises:
        SettingError: something else was given.
    """
    found = (given,) if isinstance(given, str) else () if given is None else given
    if not isinstance(found, (list, tuple)) or not all(isinstance(each, str) and each for each in found):
        raise SettingError(f"gaps: a pattern for names, or a list of them, is accepted; given: {given!r:.80}")
    return tuple(found)


def is_named(key: SlotKey, patterns: Sequence[str]) -> bool:
    """Whether a pattern names a slot."""
    names = key.operator, f"{key.operator}:{key.slot_name}"
    return any(fnmatchcase(name, each) for each in patterns for name in names)


def with_gaps(
    comparison: Comparison, expected: Sequence[Gap], found: Sequence[Gap], *, accepted: bool = False,
    patterns: Sequence[str] = (),
) -> Comparison:  # fmt: skip
    """A comparison in which slots that a side could not read are neither missing nor unexpected, but not compared.

    Args:
        comparison: of the slots that could be read.
        expected, found: gaps of both sides.
        accepted: whether those of the expected side are accepted.
        patterns: name gaps that are accepted.
    """
    if not expected and not found:
        return comparison
    sides = {gap.key: gap for gap in expected}, {gap.key: gap for gap in found}
    slots, gaps, compared = [], [], set()
    for slot in comparison.slots:
        # A slot that one side alone has may be there under the other's name.
        theirs, ours = sides[0].get(slot.key), sides[1].get(slot.key)
        if slot.verdict in (Verdict.MISSING, Verdict.UNEXPECTED) and (theirs or ours):
            gaps.append(_judged(slot, theirs, ours, accepted, patterns))
        else:
            slots.append(slot)
        compared.add(slot.key)
    for key in dict.fromkeys((*sides[0], *sides[1])):
        if key not in compared:
            one = sides[0].get(key) or sides[1][key]
            bare = SlotVerdict(key, Verdict.NOT_COMPARED, one.op_type, "", ())
            gaps.append(_judged(bare, sides[0].get(key), sides[1].get(key), accepted, patterns))
    if not gaps:
        return comparison
    comparison.forget_counts()
    kept = comparison.slots if len(slots) == len(comparison.slots) else slots
    return replace(comparison, slots=kept, gaps=gaps, uncompared=_uncompared(comparison, gaps))


def _judged(
    slot: SlotVerdict, theirs: Gap | None, ours: Gap | None, accepted: bool, patterns: Sequence[str]
) -> SlotVerdict:
    told = [f"{side} could not read it: {gap.why}" for side, gap in ((GOLDEN, theirs), (RUN, ours)) if gap is not None]
    if theirs is not None and ours is not None and theirs.why == ours.why:
        told = [f"it could not be read: {ours.why}"]
    if theirs is not None and ours is None and slot.verdict is Verdict.UNEXPECTED:
        told.append(f"{RUN} can")
    named = (accepted and theirs is not None) or is_named(slot.key, patterns)
    verdict = Verdict.ACCEPTED if named else Verdict.NOT_COMPARED
    return replace(slot, verdict=verdict, reason="; ".join(told), measurement=None)


def _uncompared(
    comparison: Comparison, gaps: Sequence[SlotVerdict]
) -> Mapping[tuple[object, ...], Sequence[Uncompared]]:
    """What explanations must not take for agreeing: inputs among the gaps."""
    found: dict[tuple[object, ...], list[Uncompared]] = defaultdict(list)
    for where, known in comparison.uncompared.items():
        found[where] += known
    for slot in gaps:
        if slot.key.io == "input":
            found[tuple(slot.key[:5])].append(Uncompared(slot.key, slot.reason))
    return dict(found)
