"""A judgement in words: the same for the gate, ``msdump check`` and ``msdump diff``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.compare.policy import CANNOT_TELL, RENAMED, Judgement
from harness.compare.verdict import Verdict
from harness.explain.build import explain
from harness.explain.evidence import Evidence
from harness.explain.explanation import Explanation
from harness.explain.numbers import printable
from harness.explain.text import Commands, block

_NAME = 120


@dataclass(frozen=True)
class Subject:
    """What was compared with what, as a person names it.

    Attributes:
        name: of the run: ``tests/test_net.py::test_train [cpu-tensor]``.
        reference: what it was compared with.
    """

    name: str
    reference: str


def explained(
    judged: Judgement, subject: Subject, expected: Evidence, found: Evidence, others: Sequence[str] = ()
) -> Explanation | None:
    """The explanation of a judgement; None of one that holds, or in which nothing was compared.

    Args:
        others: further statements.
    """
    if judged.holds or not judged.comparison.slots:
        return None
    more = [RENAMED.format(judged.renamed)] if judged.renamed else []
    unsure = [slot for slot in judged.comparison.slots if slot.verdict is Verdict.UNSURE]
    if unsure:
        more.append(f"{len(unsure)} slots cannot be told, the first because {unsure[0].reason}")
    more += judged.notes
    return explain(judged.comparison, expected, found, _title(judged, subject), others=[*more, *others])


def told(
    judged: Judgement,
    subject: Subject,
    explanation: Explanation | None,
    commands: Commands | None = None,
    colour: bool = False,
    notes: Sequence[str] = (),
) -> str:
    """What a person reads of a judgement: a failure's block, or two lines and ``notes``."""
    if explanation is not None:
        return block(explanation, commands, colour)
    lines = [_title(judged, subject), _counts(judged)]
    if not judged.comparison.slots:
        lines[1] = "Nothing was compared: neither side has a slot."
    return "\n".join([*lines, *judged.notes, *notes])


def _title(judged: Judgement, subject: Subject) -> str:
    state = "agrees with" if judged.slots_hold else "differs from"
    if judged.code == CANNOT_TELL:
        state = "cannot be told from" if judged.comparison.slots else "was not compared with"
    return f"{printable(subject.name, _NAME)} {state} {printable(subject.reference, _NAME)}"


def _counts(judged: Judgement) -> str:
    counts = judged.comparison.counts
    parts = ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items() if count)
    return f"{len(judged.comparison.slots)} slots: {parts}"
