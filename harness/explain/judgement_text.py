"""Puts a judgement into words, in the same way for the gate, ``msdump check`` and ``msdump diff``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from harness.compare.party import BITS, NOISE_RULE
from harness.compare.policy import RENAMED, Judgement
from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.environment import Changed
from harness.escape import text as escaped
from harness.exit_status import CANNOT_TELL
from harness.explain.evidence import Evidence
from harness.explain.explanation import Cause, Certainty, Explanation, Origin
from harness.explain.filed import filed, reached
from harness.explain.numbers import changed_cell, printable, short_operator
from harness.explain.text import Commands, block
from harness.records import GIVEN_SCOPE, SlotKey
from harness.words import counted

_NAME = 120
#: so many gaps, and so many changed attributes, are named
_MOST = 5


@dataclass(frozen=True)
class Subject:
    """The names of the two sides of a comparison, for people.

    Attributes:
        name: name of the run: ``tests/test_net.py::test_train [cpu-tensor]``.
        reference: name of the side it was compared with.
    """

    name: str
    reference: str


def explained(
    judged: Judgement, subject: Subject, expected: Evidence, found: Evidence, others: Sequence[str] = (),
    changed: Sequence[Changed] = (), again: Callable[[], Judgement] | None = None,
) -> Explanation | None:  # fmt: skip
    """The explanation of a judgement; None if it holds, or if nothing was compared.

    Args:
        others: further statements.
        changed: what changed of the environment since the golden was made.
        again: judges both sides under ``noise``; asked if something changed.
    """
    if judged.slots_hold and judged.texts_hold is not False:
        return None
    alone = not judged.comparison.total
    if alone and not judged.texts:
        return None
    from harness.explain.build import explain  # most judgements hold
    from harness.explain.called import with_calls

    more = [RENAMED.format(counted(judged.renamed, "operator"))] if judged.renamed else []
    unsure = [slot for slot in judged.comparison.apart() if slot.verdict is Verdict.UNSURE]
    if unsure:
        more.append(f"{counted(len(unsure), 'slot')} cannot be told, the first because {unsure[0].reason}")
    more += _gaps(judged.comparison.unnamed)
    more += [f"Not what it was: {each}" for each in judged.comparison.altered[:_MOST]]
    if len(judged.comparison.altered) > _MOST:
        more.append(f"... and {len(judged.comparison.altered) - _MOST} more attributes")
    more += judged.notes

    def made(comparison: Comparison) -> Explanation:
        found_out = explain(comparison, expected, found, _title(judged, subject), others=[*more, *others])
        found_out = replace(found_out, tolerance=_ruled(judged, found_out))
        if found_out.origin is None and judged.renamed:
            return _renamed(found_out, judged)
        return with_calls(found_out, judged.texts, judged.comparison)

    if alone:
        known = made(judged.comparison)
        return known if known.origin is not None else None
    if not changed or again is None or not reached(judged, expected.emulated and found.emulated):
        return replace(made(judged.comparison), environment=tuple(changed))
    return filed(judged, changed, again, made)


def _gaps(gaps: Sequence[SlotVerdict]) -> Iterator[str]:
    """Lines about slots that could not be read, and that nobody named."""
    for gap in gaps[:_MOST]:
        yield f"Not compared: {gap.key.operator} {gap.key.slot_name}: {gap.reason}"
    if gaps:
        more = f", {len(gaps)} in all" if len(gaps) > _MOST else ""
        name = f"{gaps[0].key.operator}:{gaps[0].key.slot_name}"
        yield f"What cannot be read fails unless it is named{more}: gaps={name!r}"


def _ruled(judged: Judgement, made: Explanation) -> str:
    """The tolerance in force where the runs part, and the rule that chose it."""
    failing = [
        slot for slot in judged.comparison.failures() if slot.verdict not in (Verdict.MISSING, Verdict.UNEXPECTED)
    ]
    there = [slot for slot in failing if made.origin is not None and slot.key == made.origin.key] or failing
    # Whole numbers and bools are equal or not, whatever is given.
    if not there or judged.rule in ("", BITS):
        return ""
    slot, tolerances, rule = there[0], judged.tolerances, judged.rule
    if tolerances.silent and not tolerances.names(slot.key, slot.op_type, slot.dtype):
        return f"{slot.tolerance}, since the table {rule} names no other"
    rounding = " and rounding" if tolerances.noise and rule != NOISE_RULE else ""
    return f"{slot.tolerance}{rounding}, {rule}"


def _renamed(made: Explanation, judged: Judgement) -> Explanation:
    """The explanation if only names differ: the first renamed operator."""
    from harness.explain.claim import Check  # most judgements hold

    pairing = judged.pairing
    if pairing is None:
        return made
    scope = "" if judged.renamed == pairing.renamed() else f"{GIVEN_SCOPE}/"  # other names need not be equal
    for step in pairing.steps:
        for pair in step.pairs:
            old, new = pair.expected.operator, pair.found.operator
            if old == new or not (old.startswith(scope) and new.startswith(scope)):
                continue
            cell = changed_cell(old, new)
            text = f"replaced: {cell}" if cell else f"renamed: {short_operator(old)} to {short_operator(new)}"
            cause = Cause(
                Certainty.BITS,
                text.split(":")[0],
                f"{text}; everything that was compared is equal",
                check=Check("fact", {"renamed": [old, new]}),
            )
            iteration = min(step.iterations, default=0)
            key = SlotKey(step.rank, pair.expected.graph, iteration, old, pair.expected.execution, "output", 0)
            return replace(made, cause=cause, origin=Origin("renamed", old, key, new))
    return made


def told(
    judged: Judgement,
    subject: Subject,
    explanation: Explanation | None,
    commands: Commands | None = None,
    colour: bool = False,
    notes: Sequence[str] = (),
) -> str:
    """The lines of a judgement for people: a failure's block, or two lines and ``notes``."""
    if explanation is not None:
        return block(explanation, commands, colour)
    lines = [_title(judged, subject), _counts(judged)]
    if not judged.comparison.total:
        lines[1] = "Nothing was compared: neither side has a slot."
    return "\n".join([*lines, *map(escaped, [*judged.notes, *notes])])


def _title(judged: Judgement, subject: Subject) -> str:
    state = "agrees with" if judged.holds else "differs from"
    if judged.code == CANNOT_TELL:
        state = "cannot be told from" if judged.comparison.total else "was not compared with"
    return f"{printable(subject.name, _NAME)} {state} {printable(subject.reference, _NAME)}"


def _counts(judged: Judgement) -> str:
    counts = judged.comparison.counts
    parts = ", ".join(f"{count} {verdict.counted}" for verdict, count in counts.items() if count)
    return f"{counted(judged.comparison.total, 'slot')}: {parts}"
