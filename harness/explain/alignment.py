"""Aligns the graphs of two runs: finds operators that only one side has, and operators with other arguments.

Names alone do not suffice: adding an operator renumbers the others of its type. Here operators count as the same if
they are in the same cells, have the same type and keep their order; forward operators count before their gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from harness.compare.origin import Kind
from harness.explain.graphs import Argument, Graphs, Statement
from harness.framework.ops.base import OPERATORS

#: the largest number of comparisons to match operators of both sides
_MOST = 1 << 22
_GRADIENTS = "Gradients/"


@dataclass(frozen=True, eq=False)
class Edit:
    """One change of a graph.

    Attributes:
        kind: ``REPLACED``, ``INSERTED``, ``REMOVED``, ``MOVED`` or ``REWIRED``.
        expected, found: the operator, on each side that has it.
        argument: for ``REWIRED``, the position of the first argument that comes from elsewhere.
        before: name of the operator before it on each side.
    """

    kind: Kind
    expected: Statement | None
    found: Statement | None
    argument: int = -1
    before: tuple[str | None, str | None] = (None, None)


class Alignment:
    """Two graphs of one id.

    Args:
        expected, found: the graphs of both runs.
        graph: their id.
    """

    def __init__(self, expected: Graphs, found: Graphs, graph: int) -> None:
        self.expected = expected.operators(graph)
        self.found = found.operators(graph)

    @cached_property
    def _blocks(self) -> list[tuple[str, int, int, int, int]]:
        """The steps that turn one sequence of operators into the other (see ``SequenceMatcher.get_opcodes``)."""
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

    def _key(self, statement: Statement) -> tuple[str, str, str]:
        """Cells without their classes, the type, and the parameter it writes: so a changed activation keeps its place,
        and an optimizer's operators are told apart."""
        cells = statement.name.split("/")[:-1]
        written = _written(statement)
        return (
            "/".join(cell.partition("-")[0] for cell in cells), statement.op,
            written if written in self._written_by_both else "",
        )  # fmt: skip

    @cached_property
    def _written_by_both(self) -> set[str]:
        one, other = ({_written(each) for each in side} for side in (self.expected, self.found))
        return one & other

    @cached_property
    def _moved(self) -> list[tuple[int, int]]:
        """The operators that stand at different places on the two sides."""
        gone = [i for tag, a, b, _, _ in self._blocks if tag != "equal" for i in range(a, b)]
        new = [j for tag, _, _, c, d in self._blocks if tag != "equal" for j in range(c, d)]
        pairs = []
        for i in gone:
            j = next((j for j in new if self._key(self.found[j]) == self._key(self.expected[i])), None)
            if j is not None:
                new.remove(j)
                pairs.append((i, j))
        return pairs

    @cached_property
    def partner(self) -> dict[str, str]:
        """The found name of each common operator, by its expected name."""
        pairs = [(i, c + i - a) for tag, a, b, c, _ in self._blocks if tag == "equal" for i in range(a, b)]
        return {self.expected[i].name: self.found[j].name for i, j in [*pairs, *self._moved]}

    @cached_property
    def edits(self) -> list[Edit]:
        """All changes: of forward operators, of gradients, of what takes gradients (an optimizer), and of the order
        alone, which follow from others."""
        found = [*self._changes(), *self._rewired()]
        return sorted(found, key=lambda each: (_is_order(each), self._stage(each), each.kind is Kind.REWIRED))

    def _stage(self, edit: Edit) -> int:
        statement = edit.expected or edit.found
        if statement is None:
            return 0
        return 1 if _is_gradient(statement) else 2 * (statement.name in self._after_gradients)

    @cached_property
    def _after_gradients(self) -> set[str]:
        """Names of operators that gradients lead to."""
        names: set[str] = set()
        for side in (self.expected, self.found):
            reached: set[str] = set()
            for statement in side:
                made = (a.producer[0] for a in statement.arguments if a.producer is not None)
                if not _is_gradient(statement) and any(m in reached or m.startswith(_GRADIENTS) for m in made):
                    reached.add(statement.name)
            names |= reached
        return names

    def _changes(self) -> list[Edit]:
        edits = []
        moved = dict(self._moved)
        back = {j: i for i, j in self._moved}
        for tag, a, b, c, d in self._blocks:
            if tag == "equal":
                continue
            gone = [i for i in range(a, b) if i not in moved]
            new = [j for j in range(c, d) if j not in back]
            for i, j in zip(gone, new, strict=False):
                edits.append(self._edit(Kind.REPLACED, i, j))
            both = min(len(gone), len(new))
            # If several operators replace one, the others belong to the same edit.
            if not both:
                edits += [self._edit(Kind.REMOVED, i, None) for i in gone]
                edits += [self._edit(Kind.INSERTED, None, j) for j in new]
        return edits + [self._moved_edit(i, j) for i, j in self._moved]

    def _edit(self, kind: Kind, i: int | None, j: int | None, argument: int = -1) -> Edit:
        one, other = None if i is None else self.expected[i], None if j is None else self.found[j]
        before = (_before(self.expected, i), _before(self.found, j))
        if i is None or j is None:
            before = (before[0] or before[1], before[0] or before[1])
        return Edit(kind, one, other, argument, before)

    def _moved_edit(self, i: int, j: int) -> Edit:
        """The edit for an operator at another place: it was exchanged with another one, or has other arguments."""
        one, other = self.expected[i], self.found[j]
        at = self._elsewhere(one, other)
        if at < 0:
            return self._edit(Kind.MOVED, i, j)
        taken = one.arguments[at].producer
        former = self._named.get(self.partner.get(taken[0], "")) if taken is not None else None
        exchanged = former is not None and any(
            a.producer is not None and a.producer[0] == other.name for a in former.arguments
        )
        return self._edit(Kind.MOVED if exchanged else Kind.REWIRED, i, j, at)

    @cached_property
    def _named(self) -> dict[str, Statement]:
        return {each.name: each for each in self.found}

    def _elsewhere(self, one: Statement, other: Statement) -> int:
        """The position of the first argument that comes from another common operator; -1 if there is none."""
        mine = {self.partner[each.name] for each in self.expected if each.name in self.partner}
        for at, (a, b) in enumerate(zip(one.arguments, other.arguments, strict=False)):
            old, new = _source(a), _source(b)
            if old is None or new is None or a.is_monad:
                continue
            was, here = self.partner.get(old, old if a.parameter else None), new if new in mine or b.parameter else None
            if was is not None and here is not None and was != here:
                return at
        return -1

    def _rewired(self) -> list[Edit]:
        edits = []
        for tag, a, b, c, _ in self._blocks:
            if tag != "equal":
                continue
            for i in range(a, b):
                at = self._elsewhere(self.expected[i], self.found[c + i - a])
                if at >= 0:
                    edits.append(self._edit(Kind.REWIRED, i, c + i - a, at))
        return edits


def _written(statement: Statement) -> str:
    """The parameter that an operator writes first; empty if it writes none."""
    places = OPERATORS.get(statement.op).mutates if statement.op in OPERATORS else ()
    names = (statement.arguments[at].parameter for at in places if at < len(statement.arguments))
    return next(filter(None, names), "")


def _common(one: Sequence[object], other: Sequence[object]) -> int:
    """The number of equal items at the beginning."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _before(side: Sequence[Statement], at: int | None) -> str | None:
    """The maker of its first argument."""
    if at is None:
        return None
    return next((a.producer[0] for a in side[at].arguments if a.producer is not None), None)


def _source(argument: Argument) -> str | None:
    return argument.producer[0] if argument.producer is not None else argument.parameter


def _is_order(edit: Edit) -> bool:
    """Whether an operator takes what it took, and only its place in the order is another."""
    return edit.kind is Kind.MOVED and edit.argument < 0


def _is_gradient(statement: Statement) -> bool:
    return statement.name.startswith(_GRADIENTS)
