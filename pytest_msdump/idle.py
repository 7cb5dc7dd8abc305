"""Keys of tables of tolerances that apply to nothing in a session, whoever stated them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_msdump.report import Result

if TYPE_CHECKING:
    from harness.compare.policy import Judgement

MARKER, GOLDEN = "the marker", "the golden"


def keys_of(judged: Judgement, by: str, asked: bool) -> list[list[str]]:
    """Who states what: for each key of the table in force who stated it, the key, and what is to be said if it applies
    to nothing here (else an empty text). Empty where there is no table of keys."""
    table = judged.tolerances
    if not (table.patterns or table.types) or not (asked or judged.rule.startswith("stored")):
        return []
    without = {each.key: str(each) for each in judged.idle}
    names = dict.fromkeys([*(pattern for pattern, _ in table.patterns), *table.types])
    return [[by if asked else GOLDEN, key, without.get(key, "")] for key in names]


def told(results: Iterable[Sequence[Result]]) -> Iterator[str]:
    """The keys that applied to nothing in any test that had them, each in one line. A marker may be that of a class or
    a module: it is asked about all tests of a file."""
    found: dict[tuple[str, str, str], str] = {}
    for each in (each for group in results for each in group):
        for by, key, said in each["keys"]:
            file = each["place"].rpartition(":")[0]
            place = file if by == MARKER else each["network"] if by == GOLDEN else ""
            found[by, place, key] = said if found.get((by, place, key), said) else ""
    for (by, place, _), said in found.items():
        if said:
            yield f"{said} ({by}{f' of {place}' if place else ''})"
