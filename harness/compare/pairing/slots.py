"""A run's slots without values, grouped by step, as pairing needs them.

Within a step a slot is a number, and so is an operator: their places in lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from math import prod
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from harness.compare.check import HasRecords
from harness.compare.divergence import PARAMETER
from harness.records import Record, SlotKey
from harness.stats import digest

Array = np.ndarray[Any, np.dtype[Any]]


class Form:
    """What is known of a slot but for its operator and its content; one object for all slots of a run that are alike.

    Attributes:
        number: its place among the forms of the run.
        io, slot: its place in its operator.
        op_type: type of its operator.
        dtype, shape: dtype and shape of its tensor.
        members: the operators of a fused kernel.
        elements: number of its elements.
        is_parameter: whether it is one that is kept.
    """

    __slots__ = ("dtype", "elements", "io", "is_parameter", "members", "number", "op_type", "shape", "slot")

    def __init__(
        self,
        number: int,
        io: str,
        slot: int,
        op_type: str,
        dtype: str,
        shape: tuple[int, ...],
        members: tuple[str, ...],
    ) -> None:
        self.number, self.io, self.slot, self.op_type, self.members = number, io, slot, op_type, members
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
        slots, starts = (each.tolist() for each in self.table)
        return [slots[start:end] for start, end in pairwise([*starts, len(slots)])]

    @cached_property
    def table(self) -> tuple[Array, Array]:
        """The slots of all operators, those of one side by side, and where those of each begin (int64)."""
        counts = np.bincount(self.owners, minlength=len(self.names))
        return np.argsort(self.owners, kind="stable"), np.cumsum(counts) - counts

    @cached_property
    def is_parameter(self) -> Array:
        """Of each slot, whether it is a parameter's (bool)."""
        return self.each(lambda form: form.is_parameter, bool)

    @cached_property
    def is_output(self) -> Array:
        """Of each slot, whether it is an output (bool)."""
        return self.each(lambda form: form.io == "output", bool)

    def is_twofold(self) -> bool:
        """Whether some slot is there twice."""
        places: dict[tuple[str, int], int] = {}
        nth = self.each(lambda form: places.setdefault((form.io, form.slot), len(places)))
        return len(np.unique(np.array(self.owners, np.int64) * len(places) + nth)) < len(self.ats)

    @cached_property
    def numbers(self) -> Array:
        """Of what each slot holds, a number (int64)."""
        return _numbered(self.held)

    @cached_property
    def fewest(self) -> Array:
        """Of each slot, how many outputs hold the same (int64): in the iteration in which the fewest do."""
        columns = [self.numbers] if len(self.contents) == 1 else map(_numbered, self.contents.values())
        return np.asarray(
            np.minimum.reduce([np.bincount(each[self.is_output], minlength=len(each))[each] for each in columns])
        )

    def each(self, told: Callable[[Form], Any], dtype: Any = np.int64) -> Array:
        """Of each slot, what is told of its form."""
        forms = list(dict.fromkeys(self.forms))
        table = np.zeros(max(form.number for form in forms) + 1, dtype)
        table[[form.number for form in forms]] = [told(form) for form in forms]
        return np.asarray(table[self._form_numbers])

    @cached_property
    def _form_numbers(self) -> Array:
        return np.array([form.number for form in self.forms], np.int64)


def _numbered(held: Sequence[Held]) -> Array:
    numbers = {each: number for number, each in enumerate(dict.fromkeys(held))}
    return np.array(list(map(numbers.__getitem__, held)), np.int64)


_T = TypeVar("_T", bound=tuple[Any, ...])
Run = HasRecords | Iterable[Record]


class Columns(NamedTuple):
    """What was read of the slots of one iteration of one rank."""

    keys: list[SlotKey]
    forms: list[Form]
    contents: list[bytes]


def makes(cls: type[_T]) -> Callable[[Iterable[Any]], _T]:
    """Makes a named tuple from any iterable, as its ``_make`` does, which takes twice as long."""
    return cast("Callable[[Iterable[Any]], _T]", partial(tuple.__new__, cls))


_NAME, _AT, _FACTS = makes(Name), makes(At), makes(SlotFacts)


def records_of(run: Run) -> Iterable[Record]:
    """The records of a run, in execution order."""
    return run.records() if isinstance(run, HasRecords) else run


def steps_of(run: Run) -> tuple[dict[int, list[StepSlots]], list[Columns]]:
    """The steps of each rank (iterations with equal slots form one), and what was read of every slot."""
    read = _read(run)
    ranks: dict[int, list[StepSlots]] = {}
    for (rank, iteration), columns in sorted(read.items(), key=itemgetter(0)):
        step, contents = _step(columns.keys, columns.forms), columns.contents
        if step.is_twofold():
            columns = read[rank, iteration] = _once(columns)
            step, contents = _step(columns.keys, columns.forms), columns.contents
        known = ranks.setdefault(rank, [])
        for each in known:
            order = _same_slots(each, step)
            if order is not None:
                each.contents[iteration] = [contents[at] for at in order]
                break
        else:
            step.contents[iteration] = contents
            known.append(step)
    return ranks, list(read.values())


def facts_of(read: Iterable[Columns]) -> dict[SlotKey, SlotFacts]:
    """The facts about every slot."""
    facts: dict[SlotKey, SlotFacts] = {}
    for keys, forms, contents in read:
        columns = contents, [form.dtype for form in forms], [form.shape for form in forms]
        facts.update(zip(keys, map(_FACTS, zip(*columns, strict=True)), strict=True))
    return facts


def _read(run: Run) -> dict[tuple[int, int], Columns]:
    read: dict[tuple[int, int], Columns] = {}
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
            keys, forms, contents = read.setdefault(step, Columns([], [], []))
            last = step
        look = key[5], key[6], record.op_type, record.dtype, tuple(record.shape), record.extra.members
        form = known.get(look)
        if form is None:
            form = known[look] = Form(len(known), *look)
        keys.append(key)
        forms.append(form)
        contents.append(content)
    return read


def _once(columns: Columns) -> Columns:
    """The last of what a run says of a slot twice, at the place of the first."""
    keys, forms, contents = columns
    last = {key: at for at, key in enumerate(keys)}
    return Columns(list(last), [forms[at] for at in last.values()], [contents[at] for at in last.values()])


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
