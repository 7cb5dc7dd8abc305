"""What one side alone has (whole iterations, parameters), and parameters that have each other's values."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from harness.compare.divergence import PARAMETER
from harness.compare.origin import Origin as Divergence
from harness.compare.verdict import SlotVerdict
from harness.explain.case import Case
from harness.explain.claim import Check
from harness.explain.evidence import Evidence
from harness.explain.explanation import Cause, Certainty, Change
from harness.words import counted

_SHOWN = 3


def iterations(divergence: Divergence, case: Case) -> Cause | None:
    """The cause of an origin in an iteration that the other side lacks as a whole; None of any other."""
    at = divergence.where.iteration
    both = [pair for pairs in (case.outputs, case.inputs, case.states) for pair in pairs.values()]
    if any(record.key.iteration == at == other.key.iteration for record, other in both):
        return None  # without reading anything
    one, other = (_iterations(side, case.where.rank) for side in (case.expected, case.found))
    if at in one and at in other:
        return None
    lacking, has = ("the run", other) if at in one else ("the golden", one)
    missing = sorted((one | other) - has)
    which = f"iteration {missing[0]}" if len(missing) == 1 else f"iterations {_some(list(map(str, missing)))}"
    text = f"{lacking} lacks {which}: the golden has {counted(len(one), 'iteration')}, the run {len(other)}"
    shown = {"golden": sorted(one), "run": sorted(other)}
    return Cause(Certainty.BITS, "iterations", text, check=Check("fact", shown))


def _iterations(side: Evidence, rank: int) -> set[int]:
    return {each.iteration for each in side.order if each.rank == rank}


def parameters(case: Case) -> list[str]:
    """Statements about parameters that one side alone has, in the first iteration that both have."""
    rank = case.where.rank
    common = _iterations(case.expected, rank) & _iterations(case.found, rank)
    if not common:
        return []
    step = min(common)
    one, other = (
        dict.fromkeys(each.key.operator for each in side.parameters if each.key.iteration == step)
        for side in (case.expected, case.found)
    )
    lines = []
    for text, names in (
        ("The run lacks", [n for n in one if n not in other]),
        ("The golden lacks", [n for n in other if n not in one]),
    ):
        own = [name for name in names if not _belongs_to(name, names)]
        if own:
            lines.append(f"{text} {'parameter' if len(own) == 1 else 'parameters'} {_some(own)}")
    return lines


def _belongs_to(name: str, names: Collection[str]) -> bool:
    """Whether an optimizer's parameter (``moments.fc.bias``) is that of another of ``names``."""
    return any(name != each and name.endswith(f".{each}") for each in names)


def differs(name: str, case: Case, failing: Iterable[SlotVerdict]) -> Cause:
    """The cause of a parameter that differs from the start: certain if nothing but its own records differs, because
    no operator that was captured reads it. Statistics that agree prove no values."""
    only = all(each.op_type == PARAMETER and each.key.operator == name for each in failing)
    only = only and not case.expected.stated and not case.found.stated
    text = f"parameter {name} differs from the start" + ("; no operator that was captured gives another value" * only)
    check = Check("fact", {"differs": [name], "iteration": case.where.iteration}) if only else None
    return Cause(Certainty.BITS if only else Certainty.LIKELY, "parameter", text, (Change(name),), check=check)


def exchanged(name: str, case: Case) -> Cause | None:
    """The cause of a parameter that has another one's value, while that one has its value."""
    step = case.where.rank, case.where.iteration
    pair = [side.parameter(name, *step) for side in (case.expected, case.found)]
    if pair[0] is None or pair[1] is None:
        return None
    golden, run = case.expected.content(pair[0]), case.found.content(pair[1])
    for record in case.expected.parameters:
        other = record.key.operator
        if other == name or record.key.iteration != case.where.iteration or record.shape != pair[0].shape:
            continue
        there = case.found.parameter(other, *step)
        if there is None or None in (golden, run):
            continue
        if case.expected.content(record) == run and case.found.content(there) == golden:
            first, second = sorted((name, other))
            text = f"parameters {first} and {second} have each other's values"
            shown = {"exchanged": [first, second], "iteration": case.where.iteration}
            return Cause(Certainty.BITS, "exchanged", text, (Change(name), Change(other)), check=Check("fact", shown))
    return None


def _some(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
