"""What pairing reads of a run: its slots without their values, gathered to operators and steps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple

from harness.compare.check import HasRecords
from harness.records import Record, SlotKey
from harness.stats import digest


class Slot(NamedTuple):
    """A slot of one step, without its step.

    Attributes:
        op_type: of its operator.
        dtype, shape: of its tensor.
        members: of a fused kernel, the operators it stands for.
    """

    op_type: str
    dtype: str
    shape: tuple[int, ...]
    members: tuple[str, ...] = ()

    @property
    def elements(self) -> int:
        """How many elements it has."""
        return prod(self.shape)


class SlotFacts(NamedTuple):
    """What a slot of a run looks like.

    Attributes:
        digest: of its content.
        dtype, shape: of its tensor.
    """

    digest: bytes
    dtype: str
    shape: tuple[int, ...]


class Name(NamedTuple):
    """One execution of an operator, without rank and iteration."""

    graph: int
    operator: str
    execution: int


class At(NamedTuple):
    """A slot within a step."""

    name: Name
    io: str
    slot: int


@dataclass(eq=False)
class StepSlots:
    """What one iteration of one rank left, or several that have the same slots.

    Attributes:
        slots: what each slot is, in the order they were found.
        contents: of each iteration, the digest of every slot.
    """

    slots: dict[At, Slot]
    contents: dict[int, dict[At, bytes]] = field(default_factory=dict)


Run = HasRecords | Iterable[Record]


def records_of(run: Run) -> Iterable[Record]:
    """The records of a run, in execution order."""
    return run.records() if isinstance(run, HasRecords) else run


def steps_of(run: Run) -> tuple[dict[int, list[StepSlots]], dict[SlotKey, SlotFacts]]:
    """The steps of each rank, iterations of equal slots in one; and what every slot looks like."""
    slots: dict[tuple[int, int], dict[At, Slot]] = defaultdict(dict)
    contents: dict[tuple[int, int], dict[At, bytes]] = defaultdict(dict)
    facts: dict[SlotKey, SlotFacts] = {}
    for record in records_of(run):
        key = record.key
        content = _content(record)
        if content is None:
            continue
        step = key.rank, key.iteration
        at = At(Name(key.graph, key.operator, key.execution), key.io, key.slot)
        members = record.extra.members
        slots[step][at] = Slot(record.op_type, record.dtype, tuple(record.shape), members)
        contents[step][at] = content
        facts[key] = SlotFacts(content, record.dtype, tuple(record.shape))
    ranks: dict[int, dict[frozenset[tuple[At, Slot]], StepSlots]] = defaultdict(dict)
    for rank, iteration in sorted(slots):
        found = slots[rank, iteration]
        same = ranks[rank].setdefault(frozenset(found.items()), StepSlots(found))
        same.contents[iteration] = contents[rank, iteration]
    return {rank: list(groups.values()) for rank, groups in ranks.items()}, facts


def _content(record: Record) -> bytes | None:
    if record.digest is not None:
        return record.digest
    array = record.load()
    return None if array is None else digest(array, record.dtype)
