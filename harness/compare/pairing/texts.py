"""The result of pairing, in words and as JSON values."""

from __future__ import annotations

from typing import Any

from harness.compare.pairing.result import Ambiguous, Pairing
from harness.compare.pairing.slots import Name
from harness.words import counted

_LISTED = 5
_CANDIDATES = 4


def lines(pairing: Pairing) -> list[str]:
    """Lines that say how many operators each rule paired, and which are unpaired without an explanation."""
    counts = pairing.counts()
    by = ", ".join(f"{counts[each]} by {each}" for each in sorted(counts))
    text = [f"Paired: {counted(sum(counts.values()), 'operator')} ({by or 'none'})"]
    for side, name in enumerate(("expected", "found")):
        whole = [(lone, iteration) for _, iteration, lone in pairing.alone(side) if lone.whole]
        open_ = [each for each in whole if not each[0].explained]
        if whole:
            text.append(f"  only the {name} side has {len(whole)} more; {len(whole) - len(open_)} need no counterpart")
        text += [f"    iteration {i}, {lone.name.operator}: {lone.reason}" for lone, i in open_[:_LISTED]]
        text += [f"    and {len(open_) - _LISTED} more without a counterpart"] if len(open_) > _LISTED else []
    return text + ambiguous(pairing)


def ambiguous(pairing: Pairing) -> list[str]:
    """Lines about operators that could be paired in several ways."""
    unsure = [each for step in pairing.steps for each in step.ambiguous]
    text = [f"  ambiguous: {_told(each)}" for each in unsure[:_LISTED]]
    return text + ([f"    and {len(unsure) - _LISTED} more such groups"] if len(unsure) > _LISTED else [])


def _told(group: Ambiguous) -> str:
    return " | ".join(", ".join(_few(side)) for side in group)


def _few(names: tuple[Name, ...]) -> list[str]:
    shown = [name.operator for name in names[:_CANDIDATES]]
    return shown + ([f"{len(names) - _CANDIDATES} more"] if len(names) > _CANDIDATES else [])


def as_json(pairing: Pairing) -> dict[str, Any]:
    """The whole result as JSON values.

    Keys: ``counts`` (operators by the rule that paired them) and ``steps``, each with ``rank``, ``iterations`` (pairs
    of labels), ``pairs``, ``alone`` (``expected`` and ``found``; ``slots`` names the slots where the operator itself
    has a counterpart) and ``ambiguous``. Operators are lists of graph, name and execution.
    """
    steps = []
    for step in pairing.steps:
        pairs = [
            {
                "expected": list(pair.expected), "found": list(pair.found), "kind": pair.kind, "by": pair.by,
                "slots": [[list(_flat(each)) for each in slot] for slot in pair.slots],
            }
            for pair in step.pairs
        ]  # fmt: skip
        alone = {
            side: [
                {
                    "operator": list(lone.name), "type": lone.op_type, "reason": lone.reason,
                    "explained": lone.explained,
                    "slots": [] if lone.whole else [f"{at.io}.{at.slot}" for at in lone.slots],
                }
                for lone in step.alone[at_side]
            ]
            for at_side, side in enumerate(("expected", "found"))
        }  # fmt: skip
        unsure = [
            {"expected": [list(n) for n in a.expected], "found": [list(n) for n in a.found]} for a in step.ambiguous
        ]
        iterations = [list(each) for each in step.iterations.items()]
        steps.append({"rank": step.rank, "iterations": iterations, "pairs": pairs, "alone": alone, "ambiguous": unsure})
    return {"counts": pairing.counts(), "steps": steps}


def _flat(at: Any) -> tuple[Any, ...]:
    return (*at.name, f"{at.io}.{at.slot}")
