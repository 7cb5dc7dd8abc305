"""Finds the output that made an input: the one that an engine states, if the bits do not contradict it; else, as a tree
may lack graphs, the one that has the same bits on both sides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from math import prod
from typing import Any

from harness.compare.divergence import IN_PLACE, PARAMETER, Executions, execution_of
from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.errors import HarnessError
from harness.records import SlotKey

#: Larger tensors are ignored.
_MOST = 1 << 24
#: Rank, and digests of what both sides have.
Content = tuple[int, bytes, bytes]
EXPECTED, FOUND = 0, 1


class Stated:
    """Where inputs come from, as the engines of both sides state it.

    Args:
        comparison: comparison of both sides.
    """

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    @cached_property
    def _sides(self) -> tuple[Mapping[Any, Any], Mapping[Any, Any]]:
        one, other = (side() for side in self._comparison.described)
        return one, other

    def edge(self, key: SlotKey, side: int) -> Any:
        """The ``recording.Edge`` of an input; None where nobody states it."""
        one = self._sides[side].get((key.rank, key.graph, key.operator)) if key.io == "input" else None
        edge = one.inputs[key.slot] if one is not None and key.slot < len(one.inputs) else None
        return None if edge is None or edge.kind == "unknown" else edge

    def maker(self, key: SlotKey, side: int) -> SlotKey | None:
        """The output that an operator takes, unless its bits are others; None where nobody states it."""
        edge = self.edge(key, side)
        if edge is None or edge.kind != "result":
            return None
        made = key._replace(operator=edge.name, io="output", slot=edge.slot)
        gave, took = (self._comparison.digests.get(each, (None, None))[side] for each in (made, key))
        return made if gave is None or took is None or gave == took else None

    def differs(self, key: SlotKey) -> bool:
        """Whether both sides state where an input comes from, of which one at least is an operator, and say
        otherwise."""
        one, other = (self.edge(key, side) for side in (EXPECTED, FOUND))
        return one is not None and other is not None and "result" in (one.kind, other.kind) and one[:3] != other[:3]


def producers(comparison: Comparison, executions: Executions, stated: Stated) -> dict[SlotKey, SlotKey]:
    """The output that made each differing input (or holds each differing parameter's value): the one that both sides
    state, else the latest earlier output with the same digests on both sides."""
    if all(slot.verdict.holds for slot in comparison.apart()):
        return {}  # nobody needs the digests, so they are not made
    made: dict[Content, SlotKey] = {}
    found: dict[SlotKey, SlotKey] = {}
    for _, slots in executions.apart():
        contents = [(slot, content) for slot in slots if (content := content_of(comparison, slot)) is not None]
        for slot, content in contents:
            known = stated.maker(slot.key, EXPECTED)
            # A state's maker may have run in an earlier iteration only (an optimizer makes its state once).
            there = known is not None and execution_of(known) in executions
            if known is not None and there and known == stated.maker(slot.key, FOUND):
                found[slot.key] = known
            elif (slot.key.io == "input" or slot.op_type == PARAMETER) and not stated.differs(slot.key):
                found.update({slot.key: made[content]} if content in made else {})
        if slots[0].op_type.startswith(IN_PLACE) and any(_is_fed(slot, found) for slot, _ in contents):
            # The state it keeps besides its outputs (moments) was dumped after it ran; scalars are its settings.
            shape = slots[0].shape
            state = [pair for pair in contents if pair[0].key.io == "input" and pair[0].shape == shape != ()]
            made.update((content, slot.key) for slot, content in state if content not in made)
        for slot, content in contents:
            if slot.key.io == "output":
                made[content] = slot.key
    return found


def content_of(comparison: Comparison, slot: SlotVerdict) -> Content | None:
    """Digests of a slot; None if a side lacks the slot, or both digests are equal."""
    if slot.verdict is Verdict.IDENTICAL:
        return None
    expected, found = comparison.digests.get(slot.key, (None, None))
    return None if expected is None or found is None else (slot.key.rank, expected, found)


def _is_fed(slot: SlotVerdict, known: Mapping[SlotKey, SlotKey]) -> bool:
    return slot.verdict is Verdict.DIFFERS and slot.key.io == "input" and slot.key in known


class Makers:
    """The outputs of one side with the content of one of its inputs, if both sides together give no maker.

    Digests are made only for slots of the same dtype and size: others cannot have the same content.

    Args:
        comparison: comparison that has the digests.
        stated: what the sides state.
    """

    def __init__(self, comparison: Comparison, stated: Stated) -> None:
        self._comparison, self._stated = comparison, stated
        self._uniform: dict[SlotKey, tuple[bool, bool]] = {}

    @cached_property
    def _places(self) -> tuple[dict[SlotKey, int], dict[SlotKey, int]]:
        """The place of each slot, in the order of each side."""
        merged = {slot.key: at for at, slot in enumerate(self._comparison.slots)}
        order = self._comparison.found_order
        return merged, merged if order is None else {key: at for at, key in enumerate(order)}

    @cached_property
    def _by_key(self) -> dict[SlotKey, SlotVerdict]:
        return {slot.key: slot for slot in self._comparison.slots}

    @cached_property
    def _outputs(self) -> dict[tuple[int, str, int], list[int]]:
        """Places of outputs that look alike."""
        found: dict[tuple[int, str, int], list[int]] = defaultdict(list)
        for at, slot in enumerate(self._comparison.slots):
            if slot.key.io == "output" and slot.op_type != PARAMETER:
                found[self._alike(slot)].append(at)
        return found

    @staticmethod
    def _alike(slot: SlotVerdict) -> tuple[int, str, int]:
        return slot.key.rank, slot.dtype, prod(slot.shape)

    def of(self, slot: SlotVerdict, side: int) -> list[SlotVerdict]:
        """The output that a side (``EXPECTED`` or ``FOUND``) states, else the earlier outputs with the content ``slot``
        has there, latest first."""
        known = self._stated.maker(slot.key, side)
        if known is not None and (made := self._by_key.get(known)) is not None:
            return [made]
        digest = self._comparison.digests.get(slot.key, (None, None))[side]
        if digest is None or prod(slot.shape) <= 1:
            return []  # numbers are alike by chance
        places = self._places[side]
        if slot.key not in places:
            return []
        if self._is_uniform(slot, side):
            return []  # so are zeros
        here, own = places[slot.key], execution_of(slot.key)
        outputs = (self._comparison.slots[at] for at in self._outputs.get(self._alike(slot), ()))
        earlier = [each for each in outputs if places.get(each.key, here) < here and execution_of(each.key) != own]
        return sorted(
            (each for each in earlier if self._digest(each, side) == digest), key=lambda each: -places[each.key]
        )

    def _is_uniform(self, slot: SlotVerdict, side: int) -> bool:
        """Whether all elements of a slot are one value."""
        if slot.key not in self._uniform:
            pair = self._comparison.pairs.get(slot.key)
            sides = []
            for record in pair or ():
                try:
                    values = record.load() if prod(record.shape) <= _MOST else None
                except HarnessError:
                    values = None
                sides.append(values is not None and bool((values.reshape(-1)[:1] == values.reshape(-1)).all()))
            self._uniform[slot.key] = (sides[0], sides[1]) if len(sides) > 1 else (False, False)
        return self._uniform[slot.key][side]

    def _digest(self, slot: SlotVerdict, side: int) -> bytes | None:
        return self._comparison.digests.get(slot.key, (None, None))[side]
