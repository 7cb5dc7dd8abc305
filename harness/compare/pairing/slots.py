"""A run's slots without values, grouped by step, as pairing needs them.

Within a step a slot is a number, and so is an operator: their places in lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import prod
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar, cast

from harness.compare.check import HasRecords
from harness.compare.divergence import PARAMETER
from harness.records import Record, SlotKey
from harness.stats import digest


class Form:
    """What is known of a slot but for its operator and its content; one object for all slots of a run that are alike.

    Attributes:
        io, slot: its place in its operator.
        op_type: type of its operator.
        dtype, shape: dtype and shape of its tensor.
        members: the operators of a fused kernel.
        elements: number of its elements.
        is_parameter: whether it is one that is kept.
    """

    __slots__ = ("dtype", "elements", "io", "is_parameter", "members", "op_type", "shape", "slot")

    def __init__(
        self, io: str, slot: int, op_type: str, dtype: str, shape: tuple[int, ...], members: tuple[str, ...]
    ) -> None:
        self.io, self.slot, self.op_type, self.members = io, slot, op_type, members
        self.dtype, self.shape = dtype, shape
        self.elements, self.is_parameter = prod(shape), op_type == PARAMETER


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


#: What one slot holds: a digest, or one of each iteration.
Held = bytes | tuple[bytes, ...]


@dataclass(eq=False)
class StepSlots:
    """The slots of one iteration of one rank, or of several iterations with the same slots.

    Attributes:
        names: the operators, by their first slots.
        ats: each slot, in the order of the records.
        owners: its operator.
        forms: what else is known of it.
        contents: the digest of every slot, by iteration.
    """

    names: list[Name]
    ats: list[At]
    owners: list[int]
    forms: list[Form]
    contents: dict[int, list[bytes]] = field(default_factory=dict)

    @cached_property
    def held(self) -> Sequence[Held]:
        """What each slot holds."""
        columns = list(self.contents.values())
        return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))

    @cached_property
    def slots(self) -> list[list[int]]:
        """The slots of each operator, in the order of the records."""
        slots: list[list[int]] = [[] for _ in self.names]
        for at, owner in enumerate(self.owners):
            slots[owner].append(at)
        return slots

    @cached_property
    def counts(self) -> list[Counter[bytes]]:
        """How many outputs hold a content, in each iteration."""
        outputs = [at for at, form in enumerate(self.forms) if form.io == "output"]
        return [Counter(map(found.__getitem__, outputs)) for found in self.contents.values()]


_T = TypeVar("_T", bound=tuple[Any, ...])
Run = HasRecords | Iterable[Record]
#: Keys, forms and digests of the records of one iteration of one rank.
_Columns = tuple[list[SlotKey], list[Form], list[bytes]]


def makes(cls: type[_T]) -> Callable[[Iterable[Any]], _T]:
    """Makes a named tuple from any iterable, as its ``_make`` does, which takes twice as long."""
    return cast("Callable[[Iterable[Any]], _T]", partial(tuple.__new__, cls))


_NAME, _AT, _FACTS = makes(Name), makes(At), makes(SlotFacts)


def records_of(run: Run) -> Iterable[Record]:
    """The records of a run, in execution order."""
    return run.records() if isinstance(run, HasRecords) else run


def steps_of(run: Run) -> tuple[dict[int, list[StepSlots]], dict[SlotKey, SlotFacts]]:
    """The steps of each rank (iterations with equal slots form one), and the facts about every slot."""
    read = _read(run)
    facts: dict[SlotKey, SlotFacts] = {}
    ranks: dict[int, list[StepSlots]] = {}
    for (rank, iteration), columns in sorted(read.items(), key=itemgetter(0)):
        keys, forms, contents = columns
        before = len(facts)
        columns_of_facts = contents, [form.dtype for form in forms], [form.shape for form in forms]
        facts.update(zip(keys, map(_FACTS, zip(*columns_of_facts, strict=True)), strict=True))
        if len(facts) - before < len(keys):
            keys, forms, contents = _once(columns)
        step = _step(keys, forms)
        known = ranks.setdefault(rank, [])
        for each in known:
            order = _same_slots(each, step)
            if order is not None:
                each.contents[iteration] = [contents[at] for at in order]
                break
        else:
            step.contents[iteration] = contents
            known.append(step)
    return ranks, facts


def _read(run: Run) -> dict[tuple[int, int], _Columns]:
    read: dict[tuple[int, int], _Columns] = {}
    known: dict[tuple[object, ...], Form] = {}
    last: tuple[int, int] | None = None
    keys: list[SlotKey] = []
    forms: list[Form] = []
    contents: list[bytes] = []
    for record in records_of(run):
        content = record.digest
        if content is None and (content := _content(record)) is None:
            continue
        key = record.key
        step = key[0], key[2]
        if step != last:
            keys, forms, contents = read.setdefault(step, ([], [], []))
            last = step
        look = key[5], key[6], record.op_type, record.dtype, tuple(record.shape), record.extra.members
        form = known.get(look)
        if form is None:
            form = known[look] = Form(*look)
        keys.append(key)
        forms.append(form)
        contents.append(content)
    return read


def _once(columns: _Columns) -> _Columns:
    """The last of what a run says of a slot twice, at the place of the first."""
    keys, forms, contents = columns
    last = {key: at for at, key in enumerate(keys)}
    return list(last), [forms[at] for at in last.values()], [contents[at] for at in last.values()]


def _step(keys: list[SlotKey], forms: list[Form]) -> StepSlots:
    _, graphs, _, operators, executions, ios, slots = zip(*keys, strict=True)
    wholes = list(zip(graphs, operators, executions, strict=True))
    numbers = {whole: number for number, whole in enumerate(dict.fromkeys(wholes))}
    names = list(map(_NAME, numbers))
    owners = list(map(numbers.__getitem__, wholes))
    ats = list(map(_AT, zip(map(names.__getitem__, owners), ios, slots, strict=True)))
    return StepSlots(names, ats, owners, forms)


def _same_slots(one: StepSlots, other: StepSlots) -> Sequence[int] | None:
    """Of each slot of ``one``, the same one of ``other``; None if they have other slots."""
    if len(one.ats) != len(other.ats):
        return None
    if one.forms == other.forms and one.ats == other.ats:
        return range(len(one.ats))
    places = {at: place for place, at in enumerate(other.ats)}
    order = [places.get(at, -1) for at in one.ats]
    same = all(place >= 0 and other.forms[place] is form for place, form in zip(order, one.forms, strict=True))
    return order if same else None


def _content(record: Record) -> bytes | None:
    array = record.load()
    return None if array is None else digest(array, record.dtype)
