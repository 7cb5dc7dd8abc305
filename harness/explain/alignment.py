"""Aligns the graphs of two runs: finds operators that only one side has, and operators with other arguments.

Names alone do not suffice: adding an operator renumbers the others of its type. Here operators count as the same if
they are in the same cells, have the same type and keep their order; forward operators count before their gradients.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise

from harness.compare.origin import Kind
from harness.compare.pairing.stated import in_order
from harness.explain.graphs import Graphs
from harness.explain.statements import Argument, Statement
from harness.explain.trained import is_gradient, written

#: the largest number of comparisons to match operators of both sides
_MOST = 1 << 22
#: of so many operators it is asked whether they moved along the data flow
_ASKED = 64
#: operators that keep every element at its place in the order: alone, they never explain other values
_VIEWS = frozenset({"Reshape", "Flatten", "ExpandDims", "Squeeze"})
#: operators that give what they take in another form
_FORMS = _VIEWS | {"Cast"}


def _own_name(cell: str) -> str:
    return cell.partition("-")[0]


def _without_numbers(cell: str) -> str:
    name, _, kind = cell.partition("-")
    return f"#{kind}" if name.isdigit() and kind else name


def _class(cell: str) -> str:
    return cell.partition("-")[2] or cell


@dataclass(frozen=True, eq=False)
class Edit:
    """One change of a graph.

    Attributes:
        kind: ``REPLACED``, ``INSERTED``, ``REMOVED``, ``MOVED`` or ``REWIRED``.
        expected, found: the operator, on each side that has it.
        arguments: the positions of those that come from elsewhere.
        before: name of the operator before it on each side.
    """

    kind: Kind
    expected: Statement | None
    found: Statement | None
    arguments: tuple[int, ...] = ()
    before: tuple[str | None, str | None] = (None, None)


class Alignment:
    """Two graphs of one id.

    Args:
        expected, found: the graphs of both runs.
        graph: their id.
        paired: the run's name of each operator and parameter that both have, by its name in the golden, where data flow
            has told it; empty: operators are matched here.
    """

    def __init__(self, expected: Graphs, found: Graphs, graph: int, paired: Mapping[str, str]) -> None:
        self.expected = expected.operators(graph)
        self.found = found.operators(graph)
        self._paired = paired
        self._asked = 0

    @cached_property
    def _told(self) -> dict[int, int]:
        """The operators that were paired before, by their numbers."""
        there = {statement.name: j for j, statement in enumerate(self.found)}
        pairs = ((i, there.get(self._paired.get(statement.name, ""))) for i, statement in enumerate(self.expected))
        return {i: j for i, j in pairs if j is not None}

    @cached_property
    def _blocks(self) -> list[tuple[str, int, int, int, int]]:
        """The steps that turn one sequence of operators into the other (see ``SequenceMatcher.get_opcodes``)."""
        if self._paired:
            ends = [(-1, -1), *in_order(self._told), (len(self.expected), len(self.found))]
            gaps = (("replace", a + 1, b, c + 1, d) for (a, c), (b, d) in pairwise(ends))
            return [each for gap, (i, j) in zip(gaps, ends[1:], strict=True)
                    for each in (gap, ("equal", i, i + 1, j, j + 1))][:-1]  # fmt: skip
        one, other = ([self._key(each) for each in side] for side in (self.expected, self.found))
        start = _common(one, other)
        end = _common(one[start:][::-1], other[start:][::-1])
        inner, outer = one[start : len(one) - end], other[start : len(other) - end]
        if len(inner) * len(outer) > _MOST:
            return []
        matcher = SequenceMatcher(None, inner, outer, autojunk=False)
        moved = [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in matcher.get_opcodes()]
        return [
            ("equal", 0, start, 0, start), *moved,
            ("equal", len(one) - end, len(one), len(other) - end, len(other)),
        ]  # fmt: skip

    def _key(self, statement: Statement, named: Callable[[str], str] = _own_name) -> tuple[str, str, str]:
        """Cells without their classes, the type, and the parameter it writes: so a changed activation keeps its place,
        and an optimizer's operators are told apart. ``named`` says what counts of a cell's name."""
        cells = statement.name.split("/")[:-1]
        target = written(statement)
        return (
            "/".join(map(named, cells)), statement.op,
            target if target in self._written_by_both else "",
        )  # fmt: skip

    @cached_property
    def _written_by_both(self) -> set[str]:
        one, other = ({written(each) for each in side} for side in (self.expected, self.found))
        return one & other

    @cached_property
    def _moved(self) -> list[tuple[int, int]]:
        """The operators that stand at different places on the two sides: first those in the same cells, then those in
        cells that only a number tells apart, as in a ``SequentialCell`` with a layer more, or only a name: cells of one
        class may all bear the name of the first."""
        orderly = dict(in_order(self._told))
        pairs = {i: j for i, j in self._told.items() if i not in orderly}
        known = {*self._told.values()}
        gone = [i for tag, a, b, _, _ in self._blocks if tag != "equal" for i in range(a, b) if i not in self._told]
        new = [j for tag, _, _, c, d in self._blocks if tag != "equal" for j in range(c, d) if j not in known]
        for named, ordered in ((_own_name, False), (_without_numbers, True), (_without_numbers, False), (_class, True)):
            if named is _class:
                gone = [i for i in gone if not _has_parameters(self.expected[i])]
                new = [j for j in new if not _has_parameters(self.found[j])]
            one = [self._key(self.expected[i], named) for i in gone]
            other = [self._key(self.found[j], named) for j in new]
            pairs |= {gone[a]: new[b] for a, b in (_in_order if ordered else _anywhere)(one, other)}
            gone = [i for i in gone if i not in pairs]
            new = sorted({*new} - {*pairs.values()})
        return sorted(pairs.items())

    @cached_property
    def _same(self) -> dict[int, int]:
        """The operators that both sides have, by their numbers. One that only lays a tensor out has no cell of its own
        (the first user of a shared one gives it its cell), so it counts as the one that takes the same."""
        if self._paired:
            return {**self._told, **dict(self._moved)}
        pairs = {i: c + i - a for tag, a, b, c, _ in self._blocks if tag == "equal" for i in range(a, b)}
        pairs |= dict(self._moved)
        views: dict[tuple[str, str], list[int]] = defaultdict(list)
        for j, statement in enumerate(self.found):
            if statement.op in _VIEWS and (taken := _first_source(statement)) is not None:
                views[statement.op, taken].append(j)
        holders = {j: i for i, j in pairs.items()}
        for i, statement in enumerate(self.expected):
            taken = _first_source(statement) if statement.op in _VIEWS else None
            if taken is None:
                continue
            at = self._number.get(taken)
            there = self.found[pairs[at]].name if at is not None and at in pairs else taken
            alike = views.get((statement.op, there), [])
            if not alike or pairs.get(i) in alike:
                continue
            mate = next((each for each in alike if not self._is_its_own(holders.get(each), each, pairs)), None)
            if mate is not None:
                pairs.pop(holders.get(mate, -1), None)
                holders.pop(pairs.get(i, -1), None)
                pairs[i], holders[mate] = mate, i
        return pairs

    def _is_its_own(self, i: int | None, j: int, pairs: Mapping[int, int]) -> bool:
        """Whether what an expected operator takes corresponds to what its partner takes."""
        if i is None:
            return False
        one, other = _first_source(self.expected[i]), _first_source(self.found[j])
        at = self._number.get(one or "")
        return (self.found[pairs[at]].name if at is not None and at in pairs else one) == other

    @cached_property
    def _number(self) -> dict[str, int]:
        return {statement.name: i for i, statement in enumerate(self.expected)}

    @cached_property
    def partner(self) -> dict[str, str]:
        """The found name of each common operator, by its expected name."""
        return {**self._paired, **{self.expected[i].name: self.found[j].name for i, j in self._same.items()}}

    @cached_property
    def _back(self) -> dict[str, str]:
        return {found: expected for expected, found in self.partner.items()}

    def golden_name(self, found: str | None) -> str | None:
        """The golden's name of an operator or parameter of the run; its own where the golden has none."""
        return self._back.get(found or "", found)

    @cached_property
    def edits(self) -> list[Edit]:
        """All changes: of forward operators, of gradients, of what takes gradients (an optimizer), and of the order
        alone, which follow from others. Of each, those that only lay tensors out come last."""
        found = [*self._changes(), *self._rewired()]
        return sorted(
            found, key=lambda each: (is_order(each), self.stage(each), _is_view(each), each.kind is Kind.REWIRED)
        )

    def stage(self, edit: Edit) -> int:
        """0 of a forward operator, 1 of a gradient, 2 of what takes gradients."""
        statement = edit.expected or edit.found
        if statement is None:
            return 0
        return 1 if is_gradient(statement.name) else 2 * (statement.name in self._after_gradients)

    @cached_property
    def _after_gradients(self) -> set[str]:
        """Names of operators that gradients lead to."""
        names: set[str] = set()
        for side in (self.expected, self.found):
            reached: set[str] = set()
            for statement in side:
                made = (a.producer[0] for a in statement.arguments if a.producer is not None)
                if not is_gradient(statement.name) and any(m in reached or is_gradient(m) for m in made):
                    reached.add(statement.name)
            names |= reached
        return names

    def _changes(self) -> list[Edit]:
        edits = []
        back = {j: i for i, j in self._same.items()}
        for _, a, b, c, d in self._blocks:
            gone = [i for i in range(a, b) if i not in self._same]
            new = [j for j in range(c, d) if j not in back]
            works = (
                [i for i in gone if self.expected[i].op not in _FORMS],
                [j for j in new if self.found[j].op not in _FORMS],
            )
            # If several operators replace one, the others belong to the same edit. What computes nothing replaces
            # nothing that does.
            if all(works) or (gone and new and not any(works)):
                pairs = zip(*works, strict=False) if all(works) else zip(gone, new, strict=False)
                edits += [self._edit(Kind.REPLACED, i, j) for i, j in pairs]
                continue
            lone = [self._edit(Kind.REMOVED, i, None) for i in gone]
            added = [self._edit(Kind.INSERTED, None, j) for j in new]
            edits += [*added, *lone] if works[1] else [*lone, *added]
        return edits + [self._moved_edit(i, j) for i, j in self._moved if self._same.get(i) == j]

    def _edit(self, kind: Kind, i: int | None, j: int | None, arguments: tuple[int, ...] = ()) -> Edit:
        one, other = None if i is None else self.expected[i], None if j is None else self.found[j]
        before = (_before(self.expected, i), self.golden_name(_before(self.found, j)))
        if i is None or j is None:
            before = (before[0] or before[1], before[0] or before[1])
        return Edit(kind, one, other, arguments, before)

    def _moved_edit(self, i: int, j: int) -> Edit:
        at = self._rewired_arguments(self.expected[i], self.found[j])
        return self._taking(i, j, at) if at else self._edit(Kind.MOVED, i, j)

    def _taking(self, i: int, j: int, at: tuple[int, ...]) -> Edit:
        """The edit for an operator whose arguments ``at`` come from elsewhere. It moved if it now takes what came after
        it, or if what it took now comes after it; else it was rewired."""
        one, other = self.expected[i], self.found[j]
        old, new = one.arguments[at[0]].producer, other.arguments[at[0]].producer
        if old is None or new is None or self._asked >= _ASKED:
            return self._edit(Kind.REWIRED, i, j, at)
        self._asked += 1
        later = _leads(self._makers[0], one.name, self._back.get(new[0], ""))
        earlier = _leads(self._makers[1], other.name, self.partner.get(old[0], ""))
        return self._edit(Kind.MOVED if later or earlier else Kind.REWIRED, i, j, at)

    @cached_property
    def _makers(self) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """The makers of each operator's arguments, by its name, on both sides."""
        one, other = (
            {each.name: [a.producer[0] for a in each.arguments if a.producer is not None] for each in side}
            for side in (self.expected, self.found)
        )
        return one, other

    @cached_property
    def _mine(self) -> set[str]:
        return set(self.partner.values())

    def _rewired_arguments(self, one: Statement, other: Statement) -> tuple[int, ...]:
        """The positions of the arguments that come from another common operator, or are another of its results."""
        mine, found = self._mine, []
        for at, (a, b) in enumerate(zip(one.arguments, other.arguments, strict=False)):
            old, new = _source(a), _source(b)
            if old is None or new is None or a.is_monad:
                continue
            was, here = self.partner.get(old, old if a.parameter else None), new if new in mine or b.parameter else None
            if was is not None and here is not None and (was, _slot(a)) != (here, _slot(b)):
                found.append(at)
        return tuple(found)

    def _rewired(self) -> list[Edit]:
        edits = []
        for tag, a, b, c, _ in self._blocks:
            if tag != "equal":
                continue
            for i in range(a, b):
                j = c + i - a
                at = self._rewired_arguments(self.expected[i], self.found[j]) if self._same.get(i) == j else ()
                if at:
                    edits.append(self._taking(i, j, at))
        return edits


def _in_order(one: Sequence[object], other: Sequence[object]) -> Iterator[tuple[int, int]]:
    """Equal items in the same order, the longest runs first."""
    if len(one) * len(other) <= _MOST:
        for a, b, size in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks():
            yield from ((a + at, b + at) for at in range(size))


def _anywhere(one: Sequence[object], other: Sequence[object]) -> Iterator[tuple[int, int]]:
    """Equal items, wherever they stand."""
    places: dict[object, deque[int]] = defaultdict(deque)
    for at, item in enumerate(other):
        places[item].append(at)
    yield from ((at, places[item].popleft()) for at, item in enumerate(one) if places[item])


def _leads(makers: Mapping[str, list[str]], start: str, end: str) -> bool:
    """Whether what one operator gives reaches another one."""
    seen, waiting = {end}, [end]
    while waiting:
        for name in makers.get(waiting.pop(), ()):
            if name == start:
                return True
            if name not in seen:
                seen.add(name)
                waiting.append(name)
    return False


def _common(one: Sequence[object], other: Sequence[object]) -> int:
    """The number of equal items at the beginning."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _before(side: Sequence[Statement], at: int | None) -> str | None:
    """The maker of its first argument."""
    if at is None:
        return None
    return next((a.producer[0] for a in side[at].arguments if a.producer is not None), None)


def _has_parameters(statement: Statement) -> bool:
    return any(argument.parameter is not None for argument in statement.arguments)


def _first_source(statement: Statement) -> str | None:
    """What its first argument comes from."""
    return _source(statement.arguments[0]) if statement.arguments else None


def _source(argument: Argument) -> str | None:
    return argument.producer[0] if argument.producer is not None else argument.parameter


def _slot(argument: Argument) -> int:
    """Which of its maker's results it is."""
    return argument.producer[1] if argument.producer is not None else 0


def _is_view(edit: Edit) -> bool:
    """Whether one side alone has an operator that only lays a tensor out."""
    statement = edit.expected or edit.found
    return edit.kind in (Kind.REMOVED, Kind.INSERTED) and statement is not None and statement.op in _VIEWS


def is_order(edit: Edit) -> bool:
    """Whether an operator takes what it took, and only its place in the order is another."""
    return edit.kind is Kind.MOVED and not edit.arguments
