"""Operators whose names are counted (``Default/mul-op3``), under the golden's numbers.

PyTorch's operators are counted in the order they run, so that one that is removed, inserted, or runs earlier gives all
later ones of its kind other numbers. Here operators of equal content are the same wherever they run; the others are
aligned in the order they run, by scope, type, arguments and shapes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

from harness.compare.check import Judging, check
from harness.compare.tolerances import Tolerances
from harness.compare.verdict import Comparison
from harness.dtypes import ARGUMENT_FORMAT, TORCH_FORMAT
from harness.records import Record, SlotKey
from harness.stats import digest

#: Suffix of an operator of the run that has no counterpart.
FOUND_SUFFIX = " (found)"
_COUNTED = re.compile(r"(.*)-op\d+$", re.DOTALL)
#: longer steps are not aligned: that would take longer than the run
_LONGEST = 20_000
Records = Callable[[], Iterable[Record]]


@dataclass(eq=False)
class _Operator:
    """One execution of a step: its name, its kind (name without the number), its form and its content."""

    name: str
    kind: str
    form: tuple[Any, ...]
    content: tuple[Any, ...]


@dataclass(frozen=True)
class Renumbered:
    """A comparison under the golden's numbers.

    Attributes:
        comparison: the comparison.
        exchanged: operators of equal content that run in another order: names in the golden and in the run.
    """

    comparison: Comparison
    exchanged: tuple[tuple[str, str], ...]


def check_renumbered(
    expected: Records, found: Records, tolerances: Tolerances, *, measured: bool = True, judging: Judging
) -> Renumbered | None:
    """Compares two runs under the golden's numbers; None if no number changes.

    Args:
        expected, found: give the records of both sides; called twice.
        tolerances, measured, judging: see ``check``.
    """
    one, other = _steps(expected()), _steps(found())
    names: dict[tuple[int, int, int, str], str] = {}
    exchanged: list[tuple[str, str]] = []
    for step in one.keys() & other.keys():
        made = _aligned(one[step], other[step], exchanged)
        if made is None:
            return None
        names |= {(*step, name): new for name, new in made.items()}
    if all(name == key[3] for key, name in names.items()):
        return None

    def renamed() -> Iterator[Record]:
        for record in found():
            name = names.get((*record.key[:3], record.key.operator))
            yield record if name is None else replace(record, key=record.key._replace(operator=name))

    comparison = check(expected(), renamed(), tolerances, order=False, measured=measured, judging=judging)
    back = {(*key[:3], new): key[3] for key, new in names.items() if new != key[3]}

    def found_as(key: SlotKey) -> SlotKey | None:
        name = back.get((*key[:3], key.operator))
        return None if name is None else key._replace(operator=name)

    comparison.slots = [
        slot if (was := found_as(slot.key)) is None else replace(slot, found_as=was) for slot in comparison.slots
    ]
    return Renumbered(comparison, tuple(exchanged))


def _steps(records: Iterable[Record]) -> dict[tuple[int, int, int], list[_Operator]]:
    """The counted operators of each rank, graph and iteration, in order."""
    slots: dict[tuple[int, int, int], dict[str, list[Record]]] = defaultdict(dict)
    for record in records:
        if record.format in (TORCH_FORMAT, ARGUMENT_FORMAT) and _COUNTED.match(record.key.operator):
            slots[record.key[:3]].setdefault(record.key.operator, []).append(record)
    return {step: [_operator(name, each) for name, each in found.items()] for step, found in slots.items()}


def _operator(name: str, records: Sequence[Record]) -> _Operator:
    form, content = [], []
    for record in records:
        key, known = record.key, _digest(record)
        is_argument = record.format == ARGUMENT_FORMAT
        form.append((key.io, record.dtype, tuple(record.shape), known if is_argument else None))
        content.append((key.io, key.slot, record.dtype, tuple(record.shape), known))
    counted = _COUNTED.match(name)
    return _Operator(name, counted[1] if counted else name, tuple(form), tuple(content))


def _digest(record: Record) -> bytes | None:
    if record.digest is not None:
        return record.digest
    values = record.load()
    return None if values is None else digest(values, record.dtype)


def _aligned(
    one: Sequence[_Operator], other: Sequence[_Operator], exchanged: list[tuple[str, str]]
) -> dict[str, str] | None:
    """The golden's name of each operator of the run; None if the step is too long."""
    if max(len(one), len(other)) > _LONGEST:
        return None
    mates = _in_order(one, other)
    crossing = _of_equal_content(one, other, mates)
    exchanged += [(one[at].name, other[mate].name) for at, mate in crossing.items()]
    for at, mate in crossing.items():
        mates = {a: b for a, b in mates.items() if a != at and b != mate}
        mates[at] = mate
    names = {other[mate].name: one[at].name for at, mate in mates.items()}
    taken = {each.name for each in one}
    for each in other:
        if each.name not in names:
            names[each.name] = each.name + FOUND_SUFFIX if each.name in taken else each.name
    return names


def _in_order(one: Sequence[_Operator], other: Sequence[_Operator]) -> dict[int, int]:
    """Mates in the order both sides run: of equal content first, then of equal form, then of one kind between those."""
    mates: dict[int, int] = {}
    matched = SequenceMatcher(None, [(e.kind, e.content) for e in one], [(e.kind, e.content) for e in other], False)
    blocks = [(0, 0, 0), *matched.get_matching_blocks()]
    for (a, b, size), (next_a, next_b, _) in pairwise(blocks):
        mates |= {a + at: b + at for at in range(size)}
        _between(one, other, range(a + size, next_a), range(b + size, next_b), mates)
    return mates


def _between(
    one: Sequence[_Operator], other: Sequence[_Operator], mine: range, its: range, mates: dict[int, int]
) -> None:
    """Pairs operators between two that are known to be the same."""
    matched = SequenceMatcher(
        None, [(one[at].kind, one[at].form) for at in mine], [(other[at].kind, other[at].form) for at in its], False
    )
    blocks = [(0, 0, 0), *matched.get_matching_blocks()]
    for (a, b, size), (next_a, next_b, _) in pairwise(blocks):
        mates |= {mine[a + at]: its[b + at] for at in range(size)}
        rest: dict[str, list[int]] = defaultdict(list)
        for at in range(b + size, next_b):
            rest[other[its[at]].kind].append(its[at])
        for at in range(a + size, next_a):
            if waiting := rest[one[mine[at]].kind]:
                mates[mine[at]] = waiting.pop(0)


def _of_equal_content(
    one: Sequence[_Operator], other: Sequence[_Operator], mates: dict[int, int]
) -> dict[int, int]:  # fmt: skip
    """Operators without an equal mate in order, with one of equal content elsewhere in the step."""
    taken = {b for a, b in mates.items() if one[a].content == other[b].content}
    free: dict[tuple[str, Any], list[int]] = defaultdict(list)
    for at, each in enumerate(other):
        if at not in taken:
            free[each.kind, each.content].append(at)
    found = {}
    for at, each in enumerate(one):
        if at in mates and one[at].content == other[mates[at]].content:
            continue
        if waiting := free.get((each.kind, each.content)):
            found[at] = waiting.pop(0)
    return found
