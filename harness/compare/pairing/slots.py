"""A run's slots without values, grouped by operator and step, as pairing needs them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple

from harness.compare.check import HasRecords
from harness.records import Record, SlotKey
from harness.stats import digest


class Slot(NamedTuple):
    """A slot of one step, without its step.

    Attributes:
        op_type: type of its operator.
        dtype, shape: dtype and shape of its tensor.
        members: the operators of a fused kernel.
    """

    op_type: str
    dtype: str
    shape: tuple[int, ...]
    members: tuple[str, ...] = ()

    @property
    def elements(self) -> int:
        """Number of its elements."""
        return prod(self.shape)


class SlotFacts(NamedTuple):
    """Facts about a slot of a run.

    Attributes:
        digest: digest of its content.
        dtype, shape: dtype and shape of its tensor.
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
    """The slots of one iteration of one rank, or of several iterations with the same slots.

    Attributes:
        slots: each slot, in the order of the records.
        contents: the digest of every slot, by iteration.
    """

    slots: dict[At, Slot]
    contents: dict[int, dict[At, bytes]] = field(default_factory=dict)


Run = HasRecords | Iterable[Record]


def records_of(run: Run) -> Iterable[Record]:
    """The records of a run, in execution order."""
    return run.records() if isinstance(run, HasRecords) else run


def steps_of(run: Run) -> tuple[dict[int, list[StepSlots]], dict[SlotKey, SlotFacts]]:
    """The steps of each rank (iterations with equal slots form one), and the facts about every slot."""
    slots: dict[tuple[int, int], dict[At, Slot]] = defaultdict(dict)
    contents: dict[tuple[int, int], dict[At, bytes]] = defaultdict(dict)
    facts: dict[SlotKey, SlotFacts] = {}
    names: dict[tuple[int, str, int], Name] = {}
    looks: dict[tuple[str, str, tuple[int, ...], tuple[str, ...]], Slot] = {}
    for record in records_of(run):
        key = record.key
        content = _content(record)
        if content is None:
            continue
        rank, graph, iteration, operator, execution, io, slot = key
        step = rank, iteration
        whole = graph, operator, execution
        name = names.get(whole)
        if name is None:
            name = names[whole] = Name(*whole)
        at, shape = At(name, io, slot), tuple(record.shape)
        look = record.op_type, record.dtype, shape, record.extra.members
        alike = looks.get(look)
        if alike is None:
            alike = looks[look] = Slot(*look)
        slots[step][at] = alike
        contents[step][at] = content
        facts[key] = SlotFacts(content, record.dtype, shape)
    return _by_rank(slots, contents), facts


def _by_rank(
    slots: Mapping[tuple[int, int], dict[At, Slot]], contents: Mapping[tuple[int, int], dict[At, bytes]]
) -> dict[int, list[StepSlots]]:
    ranks: dict[int, list[StepSlots]] = defaultdict(list)
    for rank, iteration in sorted(slots):
        found = slots[rank, iteration]
        same = next((step for step in ranks[rank] if step.slots == found), None)
        if same is None:
            same = StepSlots(found)
            ranks[rank].append(same)
        same.contents[iteration] = contents[rank, iteration]
    return dict(ranks)


def _content(record: Record) -> bytes | None:
    if record.digest is not None:
        return record.digest
    array = record.load()
    return None if array is None else digest(array, record.dtype)
