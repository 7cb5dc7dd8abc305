"""What a table of tolerances states for nothing: a name that is misspelt, or of something that is gone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from fnmatch import translate
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from harness.compare.tolerances import Tolerances
from harness.compare.verdict import SlotVerdict
from harness.records import GIVEN_SCOPE

#: so many names are searched for one like it
_SEARCHED = 500
#: slots that are looked at together
_AT_ONCE = 4096
_WILDS = re.compile(r"[*?]|\[.*")


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
    rest = iter(slots)
    while (patterns or types) and (some := list(islice(rest, _AT_ONCE))):
        operators = dict.fromkeys(each.key.operator for each in some)
        names |= operators
        kinds |= dict.fromkeys(each.op_type for each in some)
        types -= kinds.keys()
        exact = [f"{each.key.operator}:{each.key.slot_name}" for each in some] if patterns else []
        patterns = [each for each in patterns if not (_fits(each, operators) or _fits(each, exact))]
    parts = [Idle(each, f"{GIVEN_SCOPE}/{each}") for each in types if f"{GIVEN_SCOPE}/{each}" in names]
    found = [Idle(each, _near(each, kinds)) for each in tolerances.types if each in types - {one.key for one in parts}]
    return parts + found + [Idle(each, _near(each.rpartition(":")[0] or each, names)) for each in patterns]


def _fits(pattern: str, names: Iterable[str]) -> bool:
    """Whether one of the names fits: a search for the longest text that a pattern demands rules most of them out."""
    demanded, match = _compiled(pattern)
    return any(demanded in name and match(name) for name in names) if demanded in "\n".join(names) else False


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> tuple[str, Callable[[str], object]]:
    return max(_WILDS.split(pattern), key=len), re.compile(translate(pattern)).match


def _near(key: str, names: Iterable[str]) -> str:
    """The name that ``key`` is like; none for a pattern, which is like names of any length."""
    if _WILDS.search(key):
        return ""
    return next(iter(get_close_matches(key, islice(names, _SEARCHED), 1)), "")
