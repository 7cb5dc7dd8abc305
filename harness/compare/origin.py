"""Where a run first left its golden, and what kind of change that is: over records and their order, never over graphs.

An input agrees, differs, or was not compared. What was not compared never counts as agreeing: an operator is where a
difference begins only if each of its inputs was compared and agrees. An operator that only one side has is a
divergence of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from harness.compare.divergence import Execution
from harness.compare.verdict import SlotVerdict
from harness.records import SlotKey


class State(Enum):
    """What is known of an input of the first divergence."""

    AGREES = "agrees"
    DIFFERS = "differs"
    NOT_COMPARED = "not compared"


class Kind(Enum):
    """What a first divergence is."""

    COMPUTED = "computed otherwise"
    GIVEN = "given"
    UNRECORDED = "unrecorded"
    REWIRED = "takes another output"
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


_STRUCTURAL = frozenset({Kind.REPLACED, Kind.INSERTED, Kind.REMOVED, Kind.MOVED, Kind.RENAMED, Kind.REWIRED})

#: What each kind says, in words.
MEANING = {
    Kind.COMPUTED: "its inputs agree, its outputs do not",
    Kind.GIVEN: "an input differs, and no recorded operator made it: a weight, data or a constant",
    Kind.UNRECORDED: "something that was not recorded changed the values",
    Kind.REWIRED: "it takes the output of another operator",
    Kind.REPLACED: "another operator stands in its place",
    Kind.INSERTED: "only the run has it",
    Kind.REMOVED: "only the golden has it",
    Kind.MOVED: "it stands at another place",
    Kind.RENAMED: "it has another name, and the same type, inputs and outputs",
    Kind.UNSURE: "it is the first that differs; not all of its inputs were compared",
}


@dataclass(frozen=True, slots=True)
class Input:
    """One input of the first divergence.

    Attributes:
        key: under the expected name; of an input that only the found side has, under the found one.
        state: what is known of it.
        why: of one that was not compared, the reason; else empty.
        slot: its verdict, where there is one.
        expected_from, found_from: the operator whose output it has on each side; None where none is known.
    """

    key: SlotKey
    state: State
    why: str = ""
    slot: SlotVerdict | None = None
    expected_from: str | None = None
    found_from: str | None = None


@dataclass(frozen=True, slots=True)
class Downstream:
    """What else does not agree.

    Attributes:
        operators: executions besides the first divergence with a slot that does not hold.
        agreeing: executions whose slots all hold.
        ranks, iterations: those in which something does not hold, in order.
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
        where: the operator execution, under its expected name; of ``INSERTED``, under its found one.
        slots: the slots that show it, outputs first: those that differ, or those only one side has.
        inputs: each input of the execution, in order; of ``REPLACED`` those of the expected operator.
        counterpart: what the found side has for it, where that has another name; of ``REPLACED``, ``RENAMED`` and
            ``MOVED`` the operator that stands there.
        before: the operators of both sides that were executed right before it and that both sides have; None where
            there is none.
        op_types: of the operator and of ``counterpart``; the second is empty where there is none.
        earliest: the earliest differing slot of all, where that is not one of ``slots``: an input that differed
            without being the cause.
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
        """Whether each input was compared and agrees, so that the operator is where the difference begins."""
        return self.kind is Kind.COMPUTED

    @property
    def found_as(self) -> str | None:
        """What the found side calls the operator, where that is something else."""
        return self.counterpart

    @property
    def source(self) -> str | None:
        """Its source line, if known."""
        return next((slot.source for slot in self.slots if slot.source), None)

    @property
    def slot(self) -> SlotVerdict:
        """The slot that shows it best: the first differing output, or else input."""
        return self.slots[0]

    def title(self) -> str:
        """``replaced: MaxPool-op0 by AvgPool-op0``; else the operator and what ``MEANING`` says."""
        name, other = self.where.operator, self.counterpart
        if self.kind in (Kind.REPLACED, Kind.RENAMED) and other is not None:
            return f"{self.kind.value}: {name} {'by' if self.kind is Kind.REPLACED else 'to'} {other}"
        if self.kind in (Kind.INSERTED, Kind.REMOVED, Kind.MOVED):
            return f"{self.kind.value}: {name}"
        return f"{name}: {MEANING[self.kind]}"
