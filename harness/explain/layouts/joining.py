"""The slots of several ranks in the terms of one: names, micro-batches, and the parts that make a whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from harness.compare.shards import Shard, whole_of
from harness.explain.layouts.table import Chain, Table, chain_of
from harness.explain.ranks.timeline import Execution, Place, Run
from harness.records import Array, Record

#: the last part of the name of a module's call, and of the text that keeps placements
_CALL = re.compile(r"(.*/forward-op)(\d+)")
PLACEMENTS = "Default/placements-op0"
#: tensors of one slot: a rank's pieces in order, one for each micro-batch
Pieces = dict[int, list[Record]]


@dataclass
class Whole:
    """One slot of all ranks.

    Attributes:
        values: what each rank has after its parts were joined; ranks that joined one tensor share it.
        parts: what each rank held before: its micro-batches joined.
        chain: how they were joined.
        pieces: how many micro-batches a rank has, the fewest.
        why: why it cannot be compared; empty if it can.
        inferred: whether nothing but shapes says how it is joined.
    """

    values: dict[int, Array] = field(default_factory=dict)
    parts: dict[int, Array] = field(default_factory=dict)
    chain: Chain = ()
    pieces: int = 1
    why: str = ""
    inferred: bool = False

    def group_of(self, rank: int) -> tuple[int, ...]:
        """The ranks that hold the same whole together with one: all that its steps name."""
        found = {rank}
        for step in self.chain:
            for each in sorted(found):
                found.update(step.group_of(each, sorted(self.parts)))
        return tuple(sorted(found & set(self.parts)))


class Layout:
    """A run of several ranks, in the terms of one.

    Args:
        run: of several ranks.
        one: the run of one rank.
        table: what is declared.
    """

    def __init__(self, run: Run, one: Run, table: Table) -> None:
        self.run, self.one, self.table = run, one, table
        self.line = one.timeline[one.ranks[0]]
        self._calls = _calls(self.line)

    @cached_property
    def there(self) -> dict[Place, dict[int, list[Execution]]]:
        """The executions of each rank by their place on the one rank; several are micro-batches."""
        found: dict[Place, dict[int, list[Execution]]] = {}
        for rank in self.run.ranks:
            line = self.run.timeline[rank]
            named = [self.table.name(each.operator, rank) for each in line]
            calls = _calls(line, named)
            # What a table names wins over what has the name by itself: the module inside a wrapper.
            taken = {(each.place, name) for each, name in zip(line, named, strict=True) if name != each.operator}
            owned = {(place[:2], place[3], name) for place, name in taken}
            for each, name in zip(line, named, strict=True):
                graph, iteration, operator, execution = each.place
                if name == operator and ((graph, iteration), execution, name) in owned:
                    continue
                place = self._place((graph, iteration, name, execution), calls)
                found.setdefault(place, {}).setdefault(rank, []).append(each)
        return found

    def _place(self, place: Place, calls: Mapping[tuple[int, int, str], int]) -> Place:
        """Where a call lies on the one rank: micro-batches are one call there."""
        graph, iteration, name, execution = place
        found = _CALL.fullmatch(name)
        what = found[1] if found else name
        here, there = calls.get((graph, iteration, what), 1), self._calls.get((graph, iteration, what), 1)
        if there == 1 and here > 1:
            return (graph, iteration, f"{what}0", 0) if found else (graph, iteration, name, 0)
        return graph, iteration, name, execution

    @cached_property
    def recorded(self) -> dict[tuple[int, int, str], Chain]:
        """The placements that ranks recorded: by rank, iteration and slot as it is named there."""
        found: dict[tuple[int, int, str], Chain] = {}
        for rank in self.run.ranks:
            for each in self.run.timeline[rank]:
                array = each.texts[0].load() if each.operator == PLACEMENTS and each.texts else None
                if array is not None:
                    for line in array.tobytes().decode("utf-8", "replace").splitlines():
                        slot = rank, each.iteration, line.rpartition(" = ")[0]
                        found[slot] = tuple(step for step in chain_of(line) if step.joins)
        return found

    def whole(self, execution: Execution, record: Record) -> Whole | None:
        """A slot of the one rank as the others hold it; None if no rank has it, or the table leaves it out."""
        declared = self.table.of(record)
        if declared is not None and declared[0].kind == "Ignore":
            return None
        pieces: Pieces = {}
        said: list[Chain] = []
        for rank, calls in self.there.get(execution.place, {}).items():
            for call in calls:
                for each in call.inputs if record.key.io == "input" else call.outputs:
                    if each.key.slot == record.key.slot:
                        pieces.setdefault(rank, []).append(each)
                        slot = rank, call.iteration, f"{call.operator}:{each.key.slot_name}"
                        said += [self.recorded[slot]] if slot in self.recorded else []
        if not pieces:
            return None
        return _joined(pieces, record, _merged(said), declared)


def _calls(line: Sequence[Execution], named: Sequence[str] | None = None) -> Counter[tuple[int, int, str]]:
    """How often each module is called, and each result given, in an iteration."""
    found: Counter[tuple[int, int, str]] = Counter()
    for at, each in enumerate(line):
        name = named[at] if named is not None else each.operator
        call = _CALL.fullmatch(name)
        if call is not None or each.op_type == "Result":
            found[each.place[0], each.iteration, call[1] if call else name] += 1
    return found


def _merged(said: Sequence[Chain]) -> Chain | None:
    """What all ranks state of one slot: each knows the groups that it is in."""
    if not said:
        return None
    found = [*said[0]]
    for chain in said[1:]:
        if [(step.kind, step.axis) for step in chain] == [(step.kind, step.axis) for step in found]:
            found = [
                replace(known, groups=tuple(dict.fromkeys((*known.groups, *step.groups))))
                for known, step in zip(found, chain, strict=True)
            ]  # fmt: skip
    return tuple(found)


def _chain(stated: Chain | None, declared: Chain | None) -> Chain | None:
    """What a tensor states goes first; a declaration follows it where it names groups, and stands alone otherwise."""
    kept = None if declared is None else tuple(step for step in declared if step.joins)
    if stated is None or kept is None:
        return kept if stated is None else stated
    return (*stated, *(step for step in kept if step.groups))


def _joined(pieces: Pieces, record: Record, stated: Chain | None, declared: Chain | None) -> Whole:
    chain = _chain(stated, declared)
    made = Whole(pieces=min(map(len, pieces.values())))
    loaded = {rank: [each.load() for each in mine] for rank, mine in pieces.items()}
    if any(each is None for mine in loaded.values() for each in mine):
        return Whole(why="values were not kept")
    arrays = {rank: [np.asarray(each) for each in mine] for rank, mine in loaded.items()}
    try:
        made.parts = {rank: _pieces(mine, chain) for rank, mine in arrays.items()}
        if chain is None:
            chain, made.inferred = _by_shapes(made.parts, record.shape)
        made.chain, made.values = chain or (), dict(made.parts)
        chain = chain or ()
        for step in chain:
            made.values = _step(made.values, step, record.shape)
    except (ValueError, IndexError) as error:
        return Whole(parts=made.parts, pieces=made.pieces, chain=chain or (), why=f"the parts do not fit: {error}")
    return made


def _pieces(mine: Sequence[Array], chain: Chain | None) -> Array:
    """A rank's micro-batches in one: rows one after the other; numbers as they are reduced over ranks."""
    if len(mine) == 1:
        return mine[0]
    partial = next((step for step in chain or () if step.kind == "Partial"), None)
    if mine[0].ndim == 0 or partial is not None:
        return whole_of(mine, partial or Shard("", kind="Partial", reduction="mean"), 0)
    return np.concatenate(mine)


def _by_shapes(parts: Mapping[int, Array], shape: Sequence[int]) -> tuple[Chain | None, bool]:
    """How parts are joined where only one axis is shorter than on the one rank, and the parts add up to it."""
    shapes = {each.shape for each in parts.values()}
    if shapes == {tuple(shape)}:
        return (), False
    if any(len(each) != len(shape) for each in shapes):
        return None, False
    axes = {at for each in shapes for at, (a, b) in enumerate(zip(each, shape, strict=True)) if a != b}
    axis = next(iter(axes))
    if len(axes) == 1 and sum(each.shape[axis] for each in parts.values()) == shape[axis]:
        return (Shard("", axis),), True
    return None, False


def _step(values: Mapping[int, Array], step: Shard, shape: Sequence[int]) -> dict[int, Array]:
    found = dict(values)
    for group in {step.group_of(rank, sorted(values)) for rank in values}:
        ranks = [rank for rank in group if rank in values]
        if not ranks:
            continue
        arrays = [values[rank] for rank in ranks]
        axis = step.axis + arrays[0].ndim if step.axis < 0 else step.axis
        if step.kind != "Partial" and not 0 <= axis < arrays[0].ndim:
            raise ValueError(f"{step.kind}({step.axis}) of {arrays[0].ndim} axes")
        size = shape[axis] if step.kind == "Vocabulary" and axis < len(shape) else None
        whole = whole_of(arrays, step, axis, size)
        found.update((rank, whole) for rank in ranks)
    return found
