"""The first divergence where what calls state beside values tells it: a call that one side lacks, another order,
``requires_grad``; and where attributes alone differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.capture.msprobe_texts import CallChange, first_change
from harness.compare.texts import TextVerdict
from harness.compare.verdict import Altered, Comparison, Verdict
from harness.explain.explanation import Explanation, Origin
from harness.records import SlotKey


def with_calls(made: Explanation, texts: Sequence[TextVerdict], comparison: Comparison) -> Explanation:
    """An explanation whose first divergence is the earliest of those of slots, of texts and of attributes.

    Where slots alone differ later, what differs first of them is told, too: their cause is that of values.

    Args:
        made: what slots tell.
        texts: the texts that do not hold.
        comparison: of the slots.
    """
    change = _earliest(texts)
    origin = made.origin
    if change is not None and (origin is None or _precedes(change, origin)):
        more = () if origin is None else (f"First slot that differs: {_place(origin)}",)
        return replace(made, origin=_of_call(change, comparison), others=(*more, *made.others))
    if origin is None and comparison.altered:
        return replace(made, origin=_of_attribute(comparison.altered, comparison))
    return made


def _earliest(texts: Sequence[TextVerdict]) -> CallChange | None:
    changes = (first_change(each.name, each.expected, each.found) for each in texts if each.verdict is Verdict.DIFFERS)
    known = [each for each in changes if each is not None]
    return min(known, key=lambda each: (each.key.iteration, each.key.rank), default=None)


def _precedes(change: CallChange, origin: Origin) -> bool:
    one, other = change.key, origin.key
    if (one.iteration, one.rank) != (other.iteration, other.rank):
        return (one.iteration, one.rank) < (other.iteration, other.rank)
    names = (origin.operator, origin.found_as) if origin.found_as else (origin.operator,)
    return all(map(change.precedes, names))


def _place(origin: Origin) -> str:
    rank = f"rank {origin.key.rank}, " if origin.key.rank else ""
    return f"{rank}iteration {origin.key.iteration}, {origin.operator}, {origin.what}"


def _of_call(change: CallChange, comparison: Comparison) -> Origin:
    key = change.key
    before = f"after {change.before}" if change.before else "the first call"
    same = (each.source for each in comparison.every() if each.key[:4] == key[:4] and each.source)
    return Origin(change.what, key.operator, key, source=next(same, None), reason=change.reason, before=before)


def _of_attribute(altered: Sequence[Altered], comparison: Comparison) -> Origin:
    """The first operator that runs and is not what it was."""
    by_name = {(each.rank, each.graph, each.operator): each for each in reversed(altered)}
    for slot in comparison.every():
        each = by_name.get((slot.key.rank, slot.key.graph, slot.key.operator))
        if each is not None:
            return _attribute(each, slot.key)
    each = altered[0]
    return _attribute(each, SlotKey(each.rank, each.graph, 0, each.operator, 0, "output", 0))


def _attribute(each: Altered, key: SlotKey) -> Origin:
    reason = f"expected {each.expected[:80]}, found {each.found[:80]}; every slot that was compared holds"
    return Origin(f"its {each.name}", each.operator, key, source=each.source, reason=reason)
