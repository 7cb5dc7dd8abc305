"""How many inputs each reader was given so far, over all runs: a table in docs/security.md that every run adds to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from benchmarks._pages import DOCS, put

PAGE, NAME = "security.md", "inputs so far"
_HEAD = "| reader | mutated | guided | findings |\n|---|---|---|---|\n"
_ROW = re.compile(r"^\| (?P<name>[^|]+) \| (?P<mutated>[\d,]+) \| (?P<guided>[\d,]+) \| (?P<findings>[\d,]+) \|$")
_TOTAL = "all"


class Count(NamedTuple):
    """What one reader was given, and how often that ended in a finding (each is mended and a test since)."""

    mutated: int = 0
    guided: int = 0
    findings: int = 0

    def __add__(self, other: Count) -> Count:  # type: ignore[override]
        return Count(*(a + b for a, b in zip(self, other, strict=True)))


def counts(text: str) -> dict[str, Count]:
    """The counts in the page's text, by reader."""
    _, _, behind = text.partition(f"<!-- {NAME} -->\n")
    rows = behind.partition(f"<!-- end of {NAME} -->")[0].splitlines()
    found = [row for row in map(_ROW.match, rows) if row is not None and row["name"] != _TOTAL]
    return {
        row["name"]: Count(*(int(row[each].replace(",", "")) for each in ("mutated", "guided", "findings")))
        for row in found
    }  # fmt: skip


def table(found: dict[str, Count]) -> str:
    """The table of some counts, with their sum as its last row."""
    rows = [*found.items(), (_TOTAL, sum_of(found.values()))]
    return _HEAD + "".join(f"| {name} | {' | '.join(f'{number:,}' for number in count)} |\n" for name, count in rows)


def sum_of(found: Iterable[Count]) -> Count:
    """All together."""
    whole = Count()
    for each in found:
        whole += each
    return whole


def add(new: dict[str, Count]) -> bool:
    """Adds a run's counts to the page, and prints the whole table; whether the page has a place for it."""
    before = counts((DOCS / PAGE).read_text(encoding="utf-8"))
    names = [*before, *(name for name in new if name not in before)]
    return put(PAGE, NAME, table({name: before.get(name, Count()) + new.get(name, Count()) for name in names}))
