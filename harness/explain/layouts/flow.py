"""At which operator several ranks leave one, by what their values make of its values.

In a right layout an operator's results on the ranks make the one rank's: they are equal, parts along an axis, or parts
of a sum. An operator whose inputs do and whose results do not is where a rank left; so is a value that has ceased to on
its way from the operator that made it, which is what a collective does between them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from harness.compare.ranks import rank_list
from harness.compare.shards import Shard, whole_of
from harness.explain.layouts import causes
from harness.explain.layouts.joining import Layout, Whole
from harness.explain.layouts.noise import within
from harness.explain.layouts.taken import is_update
from harness.explain.ranks.finding import Cause, Finding
from harness.explain.ranks.timeline import GRADIENT, PARAMETER, Execution, Run, same_bits
from harness.records import Array, Record

#: ranks in groups, each rank in one
Partition = tuple[tuple[int, ...], ...]
#: how values make one: step by step, the groups and what is done within each (``sum``, ``mean``, an axis)
Form = tuple[tuple[Partition, "str | int"], ...]
_NO_OPERATORS = frozenset({PARAMETER, GRADIENT, "Module", "Result", "Settings"})
#: so many operators that the one rank lacks may lie between two that it has
_PAST = 4
_ADDS = frozenset({"Add", "BiasAdd", "AddExt"})


@dataclass
class Flow:
    """One iteration of several ranks, operator by operator, beside one rank's.

    Attributes:
        layout: pairs operators.
        run, one: of several ranks, and of one.
        iteration: which.
        inherited: what may be apart, see ``noise``.
    """

    layout: Layout
    run: Run
    one: Run
    iteration: int
    inherited: float
    _made: dict[tuple[str, int], tuple[Form | None, Mapping[int, Array]]] = field(default_factory=dict)

    def origin(self) -> Finding | None:
        """Where the ranks left; None where no operator shows it. Values that were not kept say nothing."""
        for each in self.layout.line:
            if each.iteration == self.iteration and each.op_type not in _NO_OPERATORS and not each.kind:
                found = self._look(each)
                if found is not None:
                    return found
        return None

    @cached_property
    def is_paired(self) -> bool:
        """Whether each rank runs about the operators of the one rank, so that their numbers mean the same."""
        mine = self._counts(self.layout.line)
        each = [self._counts(self.run.timeline[rank]) for rank in self.run.ranks]
        return all(abs(found.total() - mine.total()) <= mine.total() // 8 for found in each)

    def _counts(self, line: Sequence[Execution]) -> Counter[tuple[str, str | None]]:
        """How often an iteration runs each type of operator at each line of source."""
        return Counter(
            (each.op_type, each.source)
            for each in line
            if each.iteration == self.iteration and each.op_type not in _NO_OPERATORS and not each.kind
        )

    def fewer(self) -> tuple[tuple[int, ...], Cause] | None:
        """Ranks that run what repeats in a step less often than the others: a micro-batch less."""
        counts = {rank: self._counts(self.run.timeline[rank]) for rank in self.run.ranks}
        most = max(counts.values(), key=Counter.total)
        found: dict[int, tuple[int, int]] = {}
        for rank, mine in counts.items():
            less = {what: (mine[what], many) for what, many in most.items() if mine[what] != many}
            ratios = Counter(Fraction(*pair) for pair in less.values())
            if less and 2 * len(less) >= len(most) and not mine - most:
                ratio, often = ratios.most_common(1)[0]
                if ratio and ratio.denominator - ratio.numerator == 1 and 2 * often > len(less):
                    found[rank] = ratio.numerator, ratio.denominator
        if len(set(found.values())) != 1:
            return None
        (some, all_of_them) = next(iter(found.values()))
        text = f"{_named([tuple(found)])} ran {some} of {all_of_them} micro-batches: one was dropped"
        return tuple(found), Cause(
            "micro-batch", text, f"most operators run {some} times there for {all_of_them} elsewhere"
        )

    def _look(self, execution: Execution) -> Finding | None:
        arguments = self.one.arguments(execution.rank, execution.place[0], execution.operator)
        if not arguments or is_update(arguments):
            return None
        given: dict[int, tuple[Form | None, Mapping[int, Array], Array]] = {}
        for record in execution.inputs:
            values, expected = self._values(execution, record)
            if values is None or expected is None:
                return None
            slot = record.key.slot
            producer = arguments[slot].producer if slot < len(arguments) else None
            if producer is None and expected.dtype.kind in "iub":
                continue
            form = self._form(values, expected)
            given[slot] = form, values, expected
            known = self._made.get(producer) if producer is not None else None
            if producer is not None and form is None and known is not None and known[0] is not None:
                if not self._comes_from(execution, slot, producer):
                    return None
                return self._between(execution, record, known, values, expected)
        for record in execution.outputs:
            values, expected = self._values(execution, record)
            if values is None or expected is None:
                return None
            form = self._form(values, expected)
            self._made[execution.operator, record.key.slot] = form, values
            if form is None and all(each[0] is not None for each in given.values()):
                return self._within(execution, record, given, values, expected)
        return None

    def _comes_from(self, execution: Execution, slot: int, producer: tuple[str, int]) -> bool:
        """Whether a rank takes an input from the same operator, past those that the one rank lacks (collectives)."""
        rank = self.run.ranks[0]
        operator, graph = self.layout.there[execution.place][rank][0].operator, execution.place[0]
        for _ in range(_PAST):
            arguments = self.run.arguments(rank, graph, operator)
            found = arguments[slot].producer if slot < len(arguments) else None
            if found is None or found == producer:
                return found is not None
            operator, slot = found[0], 0
        return False

    def _values(self, execution: Execution, record: Record) -> tuple[Mapping[int, Array] | None, Array | None]:
        """A slot's values by rank, and the one rank's; None where a rank lacks it, or has it more than once."""
        there, expected = self.layout.there.get(execution.place, {}), record.load()
        found: dict[int, Array] = {}
        for rank in self.run.ranks:
            calls = there.get(rank, ())
            if len(calls) != 1 or calls[0].op_type != execution.op_type:
                return None, None
            slots = calls[0].inputs if record.key.io == "input" else calls[0].outputs
            value = next((each.load() for each in slots if each.key.slot == record.key.slot), None)
            if value is None:
                return None, None
            found[rank] = np.asarray(value)
        return found, None if expected is None else np.asarray(expected)

    @cached_property
    def _partitions(self) -> list[Partition]:
        """All ranks, and the groups that collectives and declarations name, completed to all ranks."""
        everyone = tuple(self.run.ranks)
        said = [group for chain in self.layout.table.chains for step in chain for group in step.groups]
        met = [each.group for each in self.run.meetings]
        groups = [group for group in dict.fromkeys([*met, *said]) if len(group) > 1]
        found: dict[Partition, None] = {(everyone,): None}
        for group in groups:
            mine = [group]
            for other in groups:
                if len(other) == len(group) and not {*other} & {rank for each in mine for rank in each}:
                    mine.append(other)
            if sorted(rank for each in mine for rank in each) == [*everyone]:
                found[tuple(sorted(mine))] = None
        return [*found]

    def _form(self, values: Mapping[int, Array], expected: Array) -> Form | None:
        """How the ranks' values make the one rank's; None if they do not."""
        return next((form for form, made in self._wholes(values, expected) if self._fit(made, expected)), None)

    def _fit(self, values: Mapping[int, Array], expected: Array) -> bool:
        return all(each.shape == expected.shape and within(each, expected, self.inherited) for each in values.values())

    def _wholes(self, values: Mapping[int, Array], expected: Array) -> Iterator[tuple[Form, Mapping[int, Array]]]:
        """Every way to make values of the one rank's shape: none, one step, two steps over different groups; and
        gradients of a loss that is the mean of a rank's own rows: too large by the number of ranks."""
        rows: list[tuple[Form, Mapping[int, Array]]] = []
        for form, made in self._forms(values, expected):
            if any(each.shape != expected.shape for each in made.values()):
                continue
            yield form, made
            if expected.dtype.kind == "f":
                rows += [((*form, (groups, "share")), made) for groups, way in form if isinstance(way, int)]
        for form, made in rows:
            count = len(form[-1][0][0])
            yield form, {rank: each / each.dtype.type(count) for rank, each in made.items()}

    def _forms(self, values: Mapping[int, Array], expected: Array) -> Iterator[tuple[Form, Mapping[int, Array]]]:
        yield (), values
        for first in self._partitions:
            for way in _ways(values, expected):
                made = _joined(values, first, way)
                if made is None:
                    continue
                yield ((first, way),), made
                for second in self._partitions:
                    if second != first and len(first[0]) * len(second[0]) == len(values):
                        for more in _ways(made, expected):
                            both = _joined(made, second, more)
                            if both is not None:
                                yield ((first, way), (second, more)), both

    def _between(
        self, execution: Execution, record: Record, known: tuple[Form | None, Mapping[int, Array]],
        values: Mapping[int, Array], expected: Array,
    ) -> Finding:  # fmt: skip
        """A value that made the one rank's where it came from, and does not where it is taken."""
        slot = record.key.slot_name
        told = self._group(known, values, expected)
        ranks = tuple(self.run.ranks)
        if told is None:
            found = self._plain(values, expected)
            ranks, told = found if found is not None else (ranks, None)
        return Finding(ranks, execution, slot, told, "the run of one rank")

    def _group(
        self, known: tuple[Form | None, Mapping[int, Array]], values: Mapping[int, Array], expected: Array
    ) -> Cause | None:
        """A sum over other ranks than those that hold its parts."""
        form, made = known
        for right, way in form or ():
            for other in self._partitions if way in ("sum", "mean") else ():
                summed = _joined(made, other, "sum") if other != right else None
                if summed is not None and all(
                    summed[rank].shape == each.shape and within(each, summed[rank], self.inherited)
                    for rank, each in values.items()
                ):
                    text = f"it was reduced over {_named(other)}: another group; its parts lie on {_named(right)}"
                    return Cause("group", text, f"the {way} over {_named(right)} is the one rank's")
        return None

    def _plain(self, values: Mapping[int, Array], expected: Array) -> tuple[tuple[int, ...], Cause] | None:
        """A cause that the values alone show, parts along axes joined."""
        for form, made in self._wholes(values, expected):
            if all(isinstance(way, int) for _, way in form):
                slot = causes.Slot(Whole(dict(made), dict(made)), expected, self.inherited, 0.0, {}, {}, None, "")
                found = causes.of_whole(slot)
                if found is not None:
                    return found
        return None

    def _within(
        self, execution: Execution, record: Record,
        given: Mapping[int, tuple[Form | None, Mapping[int, Array], Array]],
        values: Mapping[int, Array], expected: Array,
    ) -> Finding:  # fmt: skip
        """An operator whose inputs make the one rank's, and whose result does not."""
        where = tuple(self.run.ranks)
        told = self._added(execution, given, values, expected) or _unreduced(execution, given)
        for form, mine, right in given.values() if told is None else ():
            if not form and mine:
                wrong = tuple(rank for rank, each in values.items() if not self._fit({rank: each}, expected))
                whole = Whole(dict(values), dict(values))
                slot = causes.Slot(whole, expected, self.inherited, 0.0, {}, {}, (mine, right), execution.op_type)
                found = causes.of_masks(slot, wrong)
                if found is not None:
                    where, told = found
                    break
        return Finding(where, execution, record.key.slot_name, told, "the run of one rank")

    def _added(
        self, execution: Execution, given: Mapping[int, tuple[Form | None, Mapping[int, Array], Array]],
        values: Mapping[int, Array], expected: Array,
    ) -> Cause | None:  # fmt: skip
        """What is added on each rank to a part of a sum, and counts as often as there are ranks."""
        parts = [(slot, each[0]) for slot, each in given.items() if any(way == "sum" for _, way in each[0] or ())]
        if execution.op_type not in _ADDS or len(parts) != 1 or not self._reduced_next(execution):
            return None
        for slot, (form, mine, _) in given.items():
            if form or slot == parts[0][0] or parts[0][1] is None:
                continue
            made: Mapping[int, Array] | None = values
            count = 1
            for groups, way in parts[0][1]:
                made = _joined(made, groups, way) if made is not None else None
                count = len(groups[0]) if way == "sum" else count
            more = {rank: each * each.dtype.type(count - 1) for rank, each in mine.items()}
            if made is not None and self._fit({rank: each - more[rank] for rank, each in made.items()}, expected):
                text = f"input.{slot} is added on each rank to its part of a sum: it counts {count} times"
                return Cause("scale", text, f"the sum of the ranks' without {count - 1} of them is the one rank's")
        return None

    def _reduced_next(self, execution: Execution) -> bool:
        """Whether a collective takes what the operator makes, on some rank."""
        for rank in self.run.ranks:
            calls = self.layout.there.get(execution.place, {}).get(rank, ())
            for each in self.run.timeline[rank]:
                if each.kind and each.iteration == self.iteration:
                    taken = self.run.arguments(rank, each.place[0], each.operator)
                    if any(argument.producer and argument.producer[0] == call.operator
                           for argument in taken for call in calls):  # fmt: skip
                        return True
        return False


def _unreduced(
    execution: Execution, given: Mapping[int, tuple[Form | None, Mapping[int, Array], Array]]
) -> Cause | None:
    """An input that is a part of a sum on each rank, which nothing has made."""
    for slot, (form, _, _) in given.items():
        for groups, way in form or ():
            if way in ("sum", "mean"):
                text = f"input.{slot} was not reduced over {_named(groups)}: each has a part of the {way}"
                return Cause("not-reduced", text, f"the {way} over {_named(groups)} of input.{slot} is the one rank's")
    return None


def _named(groups: Sequence[Sequence[int]]) -> str:
    return " and ".join(f"ranks {rank_list(list(group))}" for group in groups)


def _ways(values: Mapping[int, Array], expected: Array) -> Iterator[str | int]:
    """What may be done with values of this shape: sums, and joining along an axis that is too short."""
    shapes = {each.shape for each in values.values()}
    if len(shapes) != 1 or expected.dtype.kind not in "fciub":
        return
    (shape,) = shapes
    if len(shape) != expected.ndim:
        return
    yield from (at for at, (a, b) in enumerate(zip(shape, expected.shape, strict=True)) if a < b and not b % a)
    if expected.dtype.kind in "fc":
        yield from ("sum", "mean")


def _joined(values: Mapping[int, Array], groups: Partition, way: str | int) -> dict[int, Array] | None:
    found: dict[int, Array] = {}
    for group in groups:
        parts = [values[rank] for rank in group]
        if isinstance(way, int):
            whole = np.concatenate(parts, axis=way)
        elif way in ("sum", "mean"):
            if all(same_bits(parts[0], each) for each in parts[1:]):
                return None  # equal values are no parts of a sum
            whole = whole_of(parts, Shard("", kind="Partial", reduction=way), 0)
        else:
            return None
        found.update((rank, whole) for rank in group)
    return found
