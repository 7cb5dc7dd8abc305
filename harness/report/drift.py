"""Statistics of an output over the iterations, on both sides: does it creep, jump, or blow up?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from harness.compare.divergence import PARAMETER
from harness.compare.spread import noise
from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.errors import HarnessError
from harness.records import Record, SlotKey
from harness.stats import Statistics, describe

#: Numbers of outputs and of iterations to show, and of elements in the largest tensor that is read again for it.
OUTPUTS, ITERATIONS, MAX_ELEMENTS = 24, 100, 1 << 20
SHOWN = ("min", "max", "avg", "l2norm")


class Output(NamedTuple):
    """An output to follow over the iterations: one slot of one operator, or a parameter's value."""

    rank: int
    graph: int
    operator: str
    execution: int
    io: str
    slot: int


def drift(comparison: Comparison, first: Any, records: Callable[[], Mapping[SlotKey, Record]]) -> list[dict[str, Any]]:
    """The outputs that differ in most of the iterations, those of the first divergence before all others.

    Args:
        first: execution of the first divergence, or None.
        records: gives the expected side's records; called if some iterations of an output are identical.

    Returns:
        Of each: ``name``, ``slots`` (places in ``comparison.slots``) and, for each of them, ``iterations``, ``noise``
        and ``expected`` and ``found`` (``SHOWN`` statistics; None where the values are not known); empty if the run has
        only one iteration.
    """
    courses = _courses(comparison)
    if max((len(each) for each in courses.values()), default=0) < 2:
        return []
    slots = comparison.slots
    differing = {
        output: [at for at in places if slots[at].verdict in (Verdict.DIFFERS, Verdict.WITHIN)]
        for output, places in courses.items()
    }
    begins = (first.rank, first.graph, first.operator) if first is not None else None
    ranked = sorted((o for o in differing if differing[o]), key=lambda o: (o[:3] != begins, -len(differing[o])))
    chosen = ranked[:OUTPUTS]
    agrees = any(len(differing[output]) < len(courses[output]) for output in chosen)
    known = records() if chosen and agrees else {}
    return [_course(comparison, output, courses[output][:ITERATIONS], known) for output in chosen]


def _courses(comparison: Comparison) -> dict[Output, list[int]]:
    found: dict[Output, list[int]] = {}
    for at, slot in enumerate(comparison.slots):
        key = slot.key
        if key.io == "output":
            output = Output(key.rank, key.graph, key.operator, key.execution, key.io, key.slot)
            found.setdefault(output, []).append(at)
    return found


def _course(
    comparison: Comparison, output: Output, places: list[int], known: Mapping[SlotKey, Record]
) -> dict[str, Any]:
    slots = [comparison.slots[at] for at in places]
    both = [_statistics(comparison, slot, known) for slot in slots]
    rank = f"rank {output.rank}, " if output.rank else ""
    again = f" (execution {output.execution})" if output.execution else ""
    kind = " (parameter)" if slots[0].op_type == PARAMETER else ""
    return {
        "name": f"{rank}{output.operator}{again} {output.io}.{output.slot}{kind}",
        "slots": places,
        "iterations": [slot.key.iteration for slot in slots],
        "noise": [0.0 if slot.verdict is Verdict.IDENTICAL else noise(slot.measurement) for slot in slots],
        "expected": [_shown(pair[0]) for pair in both],
        "found": [_shown(pair[1]) for pair in both],
    }


def _statistics(
    comparison: Comparison, slot: SlotVerdict, known: Mapping[SlotKey, Record]
) -> tuple[Statistics | None, Statistics | None]:
    pair = comparison.pairs.get(slot.key)
    if pair is not None:
        return _of(pair[0]), _of(pair[1])
    same = known.get(slot.key) if slot.verdict is Verdict.IDENTICAL else None
    found = _of(same) if same is not None else None
    return found, found


def _of(record: Record) -> Statistics | None:
    stored = record.extra.statistics
    if isinstance(stored, Statistics):
        return stored
    size = 1
    for side in record.shape:
        size *= side
    if size > MAX_ELEMENTS:
        return None
    try:
        values = record.load()
    except HarnessError:
        return None
    return None if values is None else describe(values, record.dtype)


def _shown(found: Statistics | None) -> list[float] | None:
    return None if found is None else [getattr(found, name) for name in SHOWN]
