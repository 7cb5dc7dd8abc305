"""The first divergence of a run from its golden, and its kind: from records and their order, never from graphs.

An input agrees, differs, or was not compared. An input that was not compared never counts as agreeing: a difference
begins at an operator only if each of its inputs was compared and agrees. An operator that only one side has is a
divergence by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from harness.compare.divergence import Execution
from harness.compare.verdict import SlotVerdict
from harness.records import SlotKey


class State(Enum):
    """The state of an input of the first divergence.

    Attributes:
        AGREES: both sides have the same value.
        DIFFERS: the values differ, or only one side has the input.
        NOT_COMPARED: it was left out of the comparison; ``Input.why`` says why.
    """

    AGREES = "agrees"
    DIFFERS = "differs"
    NOT_COMPARED = "not compared"


class Kind(Enum):
    """The kinds of first divergence; ``MEANING`` has the words of a failure text.

    Attributes:
        COMPUTED: its inputs agree, its outputs do not.
        GIVEN: an input differs that no recorded operator made: a weight, data or a constant.
        UNRECORDED: something unrecorded changed the values.
        REWIRED: it takes the output of another operator.
        ARGUMENTS: one side alone gives it an input; the others agree.
        REPLACED: another operator stands in its place.
        INSERTED: only the run has it.
        REMOVED: only the golden has it.
        MOVED: it stands at another place.
        RENAMED: it has another name, but the same type, inputs and outputs.
        UNSURE: it is the first that differs, but not all of its inputs were compared.
    """

    COMPUTED = "computed otherwise"
    GIVEN = "given"
    UNRECORDED = "unrecorded"
    REWIRED = "takes another output"
    ARGUMENTS = "takes other inputs"
    REPLACED = "replaced"
    INSERTED = "inserted"
    REMOVED = "removed"
    MOVED = "moved"
    RENAMED = "renamed"
    UNSURE = "first to differ"

    @property
    def structural(self) -> bool:
        """Whether the operators of the sides differ, not only their values."""
        return self in _STRUCTURAL


_STRUCTURAL = frozenset(
    {Kind.REPLACED, Kind.INSERTED, Kind.REMOVED, Kind.MOVED, Kind.RENAMED, Kind.REWIRED, Kind.ARGUMENTS}
)

#: The meaning of each kind, in words.
MEANING = {
    Kind.COMPUTED: "its inputs agree, its outputs do not",
    Kind.GIVEN: "an input differs, and no recorded operator made it: a weight, data or a constant",
    Kind.UNRECORDED: "something unrecorded changed the values",
    Kind.REWIRED: "it takes the output of another operator",
    Kind.ARGUMENTS: "one side alone gives it an input",
    Kind.REPLACED: "another operator stands in its place",
    Kind.INSERTED: "only the run has it",
    Kind.REMOVED: "only the golden has it",
    Kind.MOVED: "it stands at another place",
    Kind.RENAMED: "it has another name, but the same type, inputs and outputs",
    Kind.UNSURE: "it is the first that differs, but not all of its inputs were compared",
}


@dataclass(frozen=True, slots=True)
class Input:
    """One input of the first divergence.

    Attributes:
        key: key under the expected name; under the found name if only the found side has the input.
        state: whether it agrees, differs, or was not compared.
        why: why it was not compared; else empty.
        slot: its verdict, if there is one.
        expected_from: the operator whose output it is on the expected side; None if unknown.
        found_from: the same on the found side.
    """

    key: SlotKey
    state: State
    why: str = ""
    slot: SlotVerdict | None = None
    expected_from: str | None = None
    found_from: str | None = None


@dataclass(frozen=True, slots=True)
class Downstream:
    """What else differs.

    Attributes:
        operators: number of other executions with a slot that does not hold.
        agreeing: number of executions whose slots all hold.
        ranks: those on which something does not hold, in order.
        iterations: those in which something does not hold, in order.
    """

    operators: int = 0
    agreeing: int = 0
    ranks: tuple[int, ...] = ()
    iterations: tuple[int, ...] = ()


@dataclass(frozen=True)
class Origin:
    """The first divergence of a run.

    Attributes:
        kind: see ``Kind`` and ``MEANING``.
        where: the operator execution under its expected name (for ``INSERTED``, its found name).
        slots: the slots that show it, outputs first: those that differ, or that only one side has.
        inputs: the inputs of the execution in order (for ``REPLACED``, those of the expected operator).
        counterpart: the corresponding operator of the found side if its name differs; for ``REPLACED``, ``RENAMED`` and
            ``MOVED`` the operator at its place.
        before: the common operators executed right before it on both sides; None if there is none.
        op_types: types of the operator and of ``counterpart``; the second is empty if there is none.
        earliest: the earliest differing slot of all, if it is not in ``slots``: an input that differed without being
            the cause.
        downstream: how far the difference went.
    """

    kind: Kind
    where: Execution
    slots: tuple[SlotVerdict, ...]
    inputs: tuple[Input, ...] = ()
    counterpart: str | None = None
    before: tuple[str | None, str | None] = (None, None)
    op_types: tuple[str, str] = ("", "")
    earliest: SlotVerdict | None = None
    downstream: Downstream = field(default_factory=Downstream)

    @property
    def inputs_agree(self) -> bool:
        """Whether each input was compared and agrees, so that the difference begins at this operator."""
        return self.kind is Kind.COMPUTED

    @property
    def found_as(self) -> str | None:
        """The operator's name on the found side, if it differs."""
        return self.counterpart

    @property
    def source(self) -> str | None:
        """Its source line, if known."""
        return next((slot.source for slot in self.slots if slot.source), None)

    @property
    def slot(self) -> SlotVerdict:
        """The slot that shows it best: the first differing output, else the first differing input."""
        return self.slots[0]

    def title(self) -> str:
        """``replaced: MaxPool-op0 by AvgPool-op0``; else the operator and what ``MEANING`` says."""
        name, other = self.where.operator, self.counterpart
        if self.kind in (Kind.REPLACED, Kind.RENAMED) and other is not None:
            return f"{self.kind.value}: {name} {'by' if self.kind is Kind.REPLACED else 'to'} {other}"
        if self.kind in (Kind.INSERTED, Kind.REMOVED, Kind.MOVED):
            return f"{self.kind.value}: {name}"
        return f"{name}: {MEANING[self.kind]}"
