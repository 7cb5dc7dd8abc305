"""Operators that only one side of a comparison has: the operators in their place, and before them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from harness.compare.dataflow import EXPECTED, FOUND, Stated
from harness.compare.divergence import PARAMETER, Execution, Executions, PackedExecutions, execution_of
from harness.compare.origin import Kind
from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.records import GIVEN_SCOPE, SlotKey


def one_sided(slots: Iterable[SlotVerdict]) -> int | None:
    """The only side that has ``slots``: ``EXPECTED`` or ``FOUND``; None if both have one of them."""
    verdicts = {slot.verdict for slot in slots}
    if verdicts == {Verdict.MISSING}:
        return EXPECTED
    return FOUND if verdicts == {Verdict.UNEXPECTED} else None


class Structure:
    """The operators of both sides in order.

    Args:
        comparison: comparison that has the digests.
        executions: its slots by execution, in order.
        stated: where inputs come from, as both sides state it.
    """

    def __init__(self, comparison: Comparison, executions: Executions, stated: Stated) -> None:
        self.executions = executions
        self._comparison, self._stated = comparison, stated

    @cached_property
    def _alone(self) -> tuple[list[Execution], list[Execution]]:
        """The operators that only the expected side has, and those that only the found one has."""
        alone: tuple[list[Execution], list[Execution]] = [], []
        for where, slots in self.executions.apart():
            side = one_sided(slots)
            if side is not None and slots[0].op_type != PARAMETER:
                alone[side].append(where)
        return alone

    def change(self, where: Execution, side: int) -> tuple[Execution, Kind, str | None]:
        """An operator of one side and the operator in its place on the other side: the expected one first."""
        other = self._partner(where, side)
        if other is None:
            return where, (Kind.REMOVED if side == EXPECTED else Kind.INSERTED), None
        one, other = (where, other) if side == EXPECTED else (other, where)
        alike = self.executions[one][0].op_type == self.executions[other][0].op_type
        # The type of a value given to ``check`` is its name.
        named = all(each.operator.startswith(f"{GIVEN_SCOPE}/") for each in (one, other))
        kind = Kind.MOVED if alike else Kind.REPLACED
        if (alike or named) and self._contents(one, EXPECTED) == self._contents(other, FOUND):
            kind = Kind.RENAMED
        return one, kind, other.operator

    def _partner(self, where: Execution, side: int) -> Execution | None:
        """The operator in the place of another: it feeds the same input, takes the same, or follows the same operator.

        Of several, one of the same type counts first.
        """
        mine = self.executions[where][0].op_type
        others = [each for each in self._alone[1 - side] if each[:3] == where[:3]]
        known = self._links(where, side)
        linked = [each for each in others if known & self._links(each, 1 - side)]
        linked.sort(key=lambda each: self.executions[each][0].op_type != mine)
        return linked[0] if linked else None

    def _links(self, where: Execution, side: int) -> set[object]:
        """Identifies an operator's place: its inputs, its takers, and its predecessor."""
        slots = self.executions[where]
        digests = self._comparison.digests
        taken = {
            ("takes", digest)
            for slot in slots
            if slot.key.io == "input" and slot.shape and (digest := digests.get(slot.key, (None, None))[side])
        }
        given = {
            ("gives", key)
            for slot in slots
            if slot.key.io == "output" and (digest := digests.get(slot.key, (None, None))[side])
            for key in self._takers[side].get(digest, ())
        }
        edges = {
            ("takes", edge[:3])
            for slot in slots
            if slot.key.io == "input" and (edge := self._stated.edge(slot.key, side)) is not None and edge.name
        }
        return {*taken, *given, *edges, ("after", self._before[side].get(where))}

    @cached_property
    def _takers(self) -> tuple[dict[bytes, list[SlotKey]], dict[bytes, list[SlotKey]]]:
        """The differing inputs of both sides, by their content."""
        takers: tuple[dict[bytes, list[SlotKey]], dict[bytes, list[SlotKey]]] = {}, {}
        for _, slots in self.executions.apart():
            for slot in slots:
                if slot.verdict is Verdict.DIFFERS and slot.key.io == "input":
                    for side, digest in enumerate(self._comparison.digests.get(slot.key, (None, None))):
                        if digest is not None:
                            takers[side].setdefault(digest, []).append(slot.key)
        return takers

    def _contents(self, where: Execution, side: int) -> list[tuple[str, bytes | None]]:
        digests = self._comparison.digests
        return [(slot.key.slot_name, digests.get(slot.key, (None, None))[side]) for slot in self.executions[where]]

    @cached_property
    def _before(self) -> tuple[dict[Execution, str | None], dict[Execution, str | None]]:
        """The operator of both sides right before each operator, in the order of each side."""
        found = self._found_order()
        return self._follow(list(self.executions), EXPECTED), self._follow(found, FOUND)

    @cached_property
    def places(self) -> tuple[dict[Execution, int], dict[Execution, int]]:
        """The place of each operator in the order of each side."""
        one, other = ({where: at for at, where in enumerate(order)} for order in (self.executions, self._found_order()))
        return one, other

    def _found_order(self) -> list[Execution]:
        order = self._comparison.found_order
        if order is None:
            return list(self.executions)
        placed = list(dict.fromkeys(map(execution_of, order)))
        return [each for each in placed if each in self.executions]

    def _follow(self, order: Sequence[Execution], side: int) -> dict[Execution, str | None]:
        last: dict[tuple[int, int], str] = {}
        before: dict[Execution, str | None] = {}
        for where in order:
            slots = self.executions[where]
            before[where] = last.get((where.rank, where.iteration))
            if one_sided(slots) is None and slots[0].op_type != PARAMETER:
                last[where.rank, where.iteration] = where.operator
        return before

    def _preceding(self, where: Execution) -> str | None:
        """The operator right before another, where both sides have the same operators in one order."""
        order, step = list(self.executions), (where.rank, where.iteration)
        for each in reversed(order[: order.index(where)]):
            if (each.rank, each.iteration) == step and self.executions[each][0].op_type != PARAMETER:
                return each.operator
        return None

    def before(self, where: Execution, other: Execution | None) -> tuple[str | None, str | None]:
        """The operators before it on both sides; on the side that has ``other``, the one before that."""
        if isinstance(self.executions, PackedExecutions):
            return self._preceding(where), self._preceding(other or where)
        side = one_sided(self.executions[where])
        sides = (where, other or where) if side in (None, EXPECTED) else (other or where, where)
        if side is not None and other is None:
            return self._before[side].get(where), self._before[side].get(where)
        return self._before[EXPECTED].get(sides[0]), self._before[FOUND].get(sides[1])

    def find(self, operator: str | None, like: Execution) -> Execution | None:
        """The execution of another operator in the same graph and iteration, if there is one."""
        if operator is None:
            return None
        where = like._replace(operator=operator)
        if where in self.executions:
            return where
        return next((e for e in self.executions if e[:3] == like[:3] and e.operator == operator), None)
