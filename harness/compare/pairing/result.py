"""The result of pairing two runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from harness.compare.pairing.slots import At, Columns, Name, SlotFacts, facts_of
from harness.records import GIVEN_SCOPE, SlotKey


class SlotPair(NamedTuple):
    """Slots of both sides that hold the same thing. One of them may belong to a layout before the operator."""

    expected: At
    found: At


class Pair(NamedTuple):
    """Two operators, or parts of them, that do the same.

    Attributes:
        expected, found: names of the operators.
        kind: kind of the operators (``matmul``).
        by: the rule that paired them: ``name``, ``scope`` or ``flow``.
        slots: the corresponding slots.
    """

    expected: Name
    found: Name
    kind: str
    by: str
    slots: tuple[SlotPair, ...]


class Lone(NamedTuple):
    """An operator without a counterpart, or a slot without one in a paired operator.

    Attributes:
        name: the operator.
        op_type: its type.
        slots: the slot, or all slots of the operator.
        whole: whether the whole operator has no counterpart.
        reason: why it has no counterpart.
        explained: whether the computation is still the same: a layout, a part of a fused operator.
    """

    name: Name
    op_type: str
    slots: tuple[At, ...]
    whole: bool
    reason: str
    explained: bool


class Ambiguous(NamedTuple):
    """Operators that could be paired in several ways, and so are not."""

    expected: tuple[Name, ...]
    found: tuple[Name, ...]


@dataclass(frozen=True)
class StepPairing:
    """The pairs of one step, or of several that have the same slots.

    Attributes:
        rank: rank on both sides.
        iterations: the expected side's -> the found side's.
        pairs: pairs, by the expected operator.
        alone: unpaired operators of the expected and of the found side.
        ambiguous: operators that could be paired in several ways; they are in ``alone``, too.
    """

    rank: int
    iterations: Mapping[int, int]
    pairs: tuple[Pair, ...]
    alone: tuple[tuple[Lone, ...], tuple[Lone, ...]]
    ambiguous: tuple[Ambiguous, ...]


@dataclass(frozen=True)
class Pairing:
    """How the operators of two runs correspond.

    Attributes:
        steps: pairings by rank and iteration.
        read: what was read of the slots of both sides.
    """

    steps: tuple[StepPairing, ...]
    read: tuple[Sequence[Columns], Sequence[Columns]] = field(repr=False, default=((), ()))

    @cached_property
    def facts(self) -> tuple[Mapping[SlotKey, SlotFacts], Mapping[SlotKey, SlotFacts]]:
        """Facts about every slot of both sides."""
        return facts_of(self.read[0]), facts_of(self.read[1])

    def counts(self) -> dict[str, int]:
        """The number of expected operators paired by each rule, over all steps; each counts once."""
        by: dict[tuple[int, Name, int], str] = {}
        for step in self.steps:
            for pair in step.pairs:
                for iteration in step.iterations:
                    by.setdefault((step.rank, pair.expected, iteration), pair.by)
        return dict(Counter(by.values()))

    def slots(self) -> Iterator[tuple[SlotKey, SlotKey]]:
        """The corresponding slots of both sides."""
        for step in self.steps:
            for one, other in step.iterations.items():
                for pair in step.pairs:
                    for slot in pair.slots:
                        yield key_of(slot.expected, step.rank, one), key_of(slot.found, step.rank, other)

    def renamed(self, *, given: bool = False) -> int:
        """The number of operators paired with one of another name; each counts once.

        Args:
            given: only values that a test gave by name, on both sides.
        """
        scope = f"{GIVEN_SCOPE}/" if given else ""
        pairs = {((one.rank, one.graph, one.operator), other.operator) for one, other in self.slots()}
        return len(
            {
                where
                for where, other in pairs
                if where[2] != other and where[2].startswith(scope) and other.startswith(scope)
            }
        )

    def alone(self, side: int) -> list[tuple[int, int, Lone]]:
        """Everything without a counterpart on a side (0 is the expected one): rank, iteration and the operator."""
        return [
            (step.rank, iteration, lone)
            for step in self.steps
            for iteration in (step.iterations.values() if side else step.iterations)
            for lone in step.alone[side]
        ]


def key_of(at: At, rank: int, iteration: int) -> SlotKey:
    """The key of a slot in a step."""
    name = at.name
    return SlotKey(rank, name.graph, iteration, name.operator, name.execution, at.io, at.slot)
