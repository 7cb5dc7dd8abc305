"""What operators are, on both sides: another type, attribute or constant under one name is a difference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isclose
from typing import TYPE_CHECKING, Any

from harness.compare.verdict import Altered
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.recording.described import Described

#: An operator of one side by rank, graph and name.
Operators = Mapping[tuple[int, int, str], "Described"]
#: Attributes that only name or annotate.
SILENT = frozenset({"input_names", "output_names"})
TYPE = "type"
_MILLIONTH = 1e-6
#: whose values are equal or not; of arrays and others, their texts say it
_PLAIN = frozenset({int, bool, str, bytes, complex, type(None)})


class Identities:
    """The operators of one side.

    Args:
        operators: gives them by rank, graph and name; asked only if digests differ.
        identity: gives a digest over what they are; empty where nobody described them.

    Attributes:
        operators: as given.
    """

    def __init__(self, operators: Callable[[], Operators], identity: Callable[[], str]) -> None:
        self.operators, self._identity = operators, identity

    @classmethod
    def of(cls, operators: Operators) -> Identities:
        """Of operators that a capture holds."""

        def identity() -> str:
            from harness.store.layout.values import identity as digest_of

            try:
                return digest_of(operators.values()) if operators else ""
            except (TypeError, ValueError):  # what cannot be digested is compared one by one
                return "?"

        return cls(lambda: operators, identity)

    def altered(self, other: Identities, *, exact: bool = True) -> list[Altered]:
        """What is not the same of operators that both sides have; nothing where one side describes none.

        Args:
            other: the found side.
            exact: whether numbers must be equal; else they may differ by a millionth, as arguments in slots may.

        Raises:
            StoreError: the tables of a golden are damaged.
        """
        mine = self._identity()
        if not mine:
            return []
        theirs = other._identity()
        if not theirs or mine == theirs:
            return []
        found = other.operators()
        return [
            each
            for key, one in self.operators().items()
            if (same := found.get(key)) is not None
            for each in _altered(key, one, same, exact)
        ]


NOBODY = Identities(dict, str)


def _altered(key: tuple[int, int, str], one: Described, other: Described, exact: bool) -> Iterable[Altered]:
    from harness.recording.described import SETTINGS_TYPE
    from harness.store.layout.values import text_of

    rank, graph, name = key
    source = other.source or one.source
    if one.type != other.type:
        yield Altered(rank, graph, name, TYPE, one.type, other.type, source)
    mine, theirs = _settings(one), _settings(other)
    if one.type == other.type == SETTINGS_TYPE:  # a release adds some, and a refactoring renames parts
        mine, theirs = _by_part(mine, theirs), _by_part(theirs, mine)
    for attribute in sorted({*mine, *theirs}):
        was, now = (_text(side, attribute, text_of) for side in (mine, theirs))
        if was != now and (exact or not _near(mine.get(attribute), theirs.get(attribute))):
            yield Altered(rank, graph, name, attribute, was, now, source)


def _settings(one: Described) -> dict[str, Any]:
    """Attributes, and constants that no slot shows, by name."""
    from harness.store.layout.values import is_setting

    found = {name: value for name, value in one.attributes.items() if name not in SILENT}
    for slot, edge in enumerate(one.inputs):
        if is_setting(edge):
            named = one.names[slot] if slot < len(one.names) and one.names[slot] else f"input.{slot}"
            found[named] = edge.value
    return found


def _by_part(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of each part (``norm.eps``) that the other side has, too."""
    return {
        f"{part}.{name}".lstrip("."): value
        for part, held in one.items()
        if isinstance(held, Mapping) and isinstance(other.get(part), Mapping)
        for name, value in held.items()
        if name in other[part]
    }


def _near(one: Any, other: Any) -> bool:
    """Whether two numbers, or lists of numbers, differ by a millionth at most."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_near, one, other))
    if type(one) is not float or type(other) is not float:
        return type(one) in _PLAIN and type(one) is type(other) and bool(one == other)
    return isclose(one, other, rel_tol=_MILLIONTH)


def _text(side: Mapping[str, Any], name: str, text_of: Callable[[Any], str]) -> str:
    if name not in side:
        return "nothing"
    try:
        return text_of(side[name])
    except (TypeError, ValueError, HarnessError):
        return repr(side[name])[:200]
