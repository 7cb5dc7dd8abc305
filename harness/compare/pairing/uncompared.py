"""Finds inputs of paired operators that were compared with nothing, so that nobody can say that they agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from math import prod

from harness.compare.pairing.result import Pairing, StepPairing, key_of
from harness.compare.pairing.slots import Name, SlotFacts
from harness.compare.verdict import Uncompared
from harness.dtypes import by_name
from harness.records import SlotKey

_WHY = (
    "the golden's operator takes it, the run's has nothing like it",
    "the run's operator takes it, the golden's has nothing like it",
)
#: Up to this many whole numbers that no operator made are settings (axes, sizes).
_SETTINGS = 16
#: Inputs that a kind of operator overwrites: its outputs do not depend on them.
_STATE: Mapping[str, frozenset[int]] = {"batch_norm": frozenset({3, 4})}
_Group = tuple[set[Name], set[Name]]
#: For each side, the number of elements in slots of layouts that were compared instead of an operator's own inputs.
_Before = dict[Name, set[int]]


def uncompared(pairing: Pairing, names: Mapping[SlotKey, SlotKey]) -> dict[tuple[object, ...], list[Uncompared]]:
    """The inputs that were left out, of each paired expected operator and its counterpart.

    Inputs inside a fused operator do not count: the same operator made them.

    Args:
        pairing: pairing of both runs.
        names: the found slot of each compared expected slot.
    """
    slots = _by_execution(pairing.facts[0]), _by_execution(pairing.facts[1])
    made = tuple({fact.digest for key, fact in side.items() if key.io == "output"} for side in pairing.facts)
    compared: tuple[Collection[SlotKey], Collection[SlotKey]] = names.keys(), set(names.values())
    found: dict[tuple[object, ...], list[Uncompared]] = {}
    for step in pairing.steps:
        before = _before_layouts(step, pairing)
        kinds = {pair.expected: pair.kind for pair in step.pairs}
        for group in _groups(step):
            state = {slot for name in group[0] for slot in _STATE.get(kinds[name], ())}
            for labels in step.iterations.items():
                left: list[Uncompared] = []
                for side in (0, 1):
                    keys = [
                        key
                        for name in sorted(group[side])
                        for key in slots[side].get(_execution(name, step.rank, labels[side]), ())
                    ]
                    laid = {count for name in group[side] for count in before[side].get(name, ())}
                    left += _left(keys, pairing.facts[side], compared[side], made[side], _WHY[side], laid, state)
                for name in group[0] if left else ():
                    found[_execution(name, step.rank, labels[0])] = left
    return found


def _left(
    keys: list[SlotKey],
    facts: Mapping[SlotKey, SlotFacts],
    compared: Collection[SlotKey],
    made: Collection[bytes],
    why: str,
    laid: Collection[int],
    state: Collection[int],
) -> Iterator[Uncompared]:
    """The inputs of one side's group that are compared with nothing, neither directly nor before a layout."""
    inner = {facts[key].digest for key in keys if key.io == "output"}
    for key in keys:
        fact = facts[key]
        if key.io == "input" and key not in compared and fact.digest not in inner:
            count = prod(fact.shape)
            if count in laid:
                continue
            whole = by_name(fact.dtype).kind in "iub"
            carries = key.slot not in state and count > (_SETTINGS if whole and fact.digest not in made else 1)
            yield Uncompared(key, why, carries)


def _before_layouts(step: StepPairing, pairing: Pairing) -> tuple[_Before, _Before]:
    before: tuple[_Before, _Before] = defaultdict(set), defaultdict(set)
    labels = next(iter(step.iterations.items()))
    for pair in step.pairs:
        for slot in pair.slots:
            for side, (at, own) in enumerate(((slot.expected, pair.expected), (slot.found, pair.found))):
                if at.name != own:
                    fact = pairing.facts[side][key_of(at, step.rank, labels[side])]
                    before[side][own].add(prod(fact.shape))
    return before


def _groups(step: StepPairing) -> Iterator[_Group]:
    """Groups of names that pairs connect, each one operator on some side."""
    mates: tuple[dict[Name, set[Name]], dict[Name, set[Name]]] = defaultdict(set), defaultdict(set)
    for pair in step.pairs:
        mates[0][pair.expected].add(pair.found)
        mates[1][pair.found].add(pair.expected)
    seen: set[Name] = set()
    for name in mates[0]:
        if name in seen:
            continue
        group: _Group = {name}, set()
        waiting = [(0, name)]
        while waiting:
            side, each = waiting.pop()
            for mate in mates[side][each] - group[1 - side]:
                group[1 - side].add(mate)
                waiting.append((1 - side, mate))
        seen |= group[0]
        yield group


def _by_execution(facts: Mapping[SlotKey, SlotFacts]) -> dict[tuple[object, ...], list[SlotKey]]:
    slots: dict[tuple[object, ...], list[SlotKey]] = defaultdict(list)
    for key in facts:
        slots[key[:5]].append(key)
    return slots


def _execution(name: Name, rank: int, iteration: int) -> tuple[object, ...]:
    return rank, name.graph, iteration, name.operator, name.execution
