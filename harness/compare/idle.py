"""What a table of tolerances states for nothing: a name that is misspelt, or of something that is gone."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from typing import NamedTuple

from harness.compare.tolerances import Tolerances, matches
from harness.compare.verdict import SlotVerdict
from harness.records import GIVEN_SCOPE

#: so many names are searched for one like it
_SEARCHED = 500


class Idle(NamedTuple):
    """A key of a table to which no slot of either side belongs. (A dtype is always one, so it is never idle.)

    Attributes:
        key: an operator's type, a value's name, or a pattern.
        near: a type or name like it; empty if there is none.
    """

    key: str
    near: str

    def __str__(self) -> str:
        meant = f"; {self.near} is one" if self.near else ""
        return f"a tolerance is stated for {self.key!r}, the type or name of nothing here{meant}"


def idle(tolerances: Tolerances, slots: Iterable[SlotVerdict]) -> list[Idle]:
    """The keys of a table that apply to no slot, in its order.

    Args:
        tolerances: the table.
        slots: those of both sides; read until each key was found.
    """
    patterns, types = [pattern for pattern, _ in tolerances.patterns], set(tolerances.types)
    kinds: dict[str, None] = {}
    names: dict[str, None] = {}
    for slot in slots if patterns or types else ():
        operator, kind = slot.key.operator, slot.op_type
        if kind not in kinds:
            kinds[kind] = None
            types.discard(kind)
        names[operator] = None
        if patterns:
            name = f"{operator}:{slot.key.slot_name}"
            patterns = [each for each in patterns if not (matches(operator, each) or matches(name, each))]
        if not (patterns or types):
            return []
    parts = [Idle(each, f"{GIVEN_SCOPE}/{each}") for each in types if f"{GIVEN_SCOPE}/{each}" in names]
    found = [Idle(each, _near(each, kinds)) for each in tolerances.types if each in types - {one.key for one in parts}]
    return parts + found + [Idle(each, _near(each.rpartition(":")[0] or each, names)) for each in patterns]


def _near(key: str, names: Iterable[str]) -> str:
    return next(iter(get_close_matches(key, islice(names, _SEARCHED), 1)), "")
