"""The page of the facts observed of MindSpore: how many, of which kind, and what holds them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from tests.witnesses.recordings import CALL
from tests.witnesses.tables import Row, rows, statements

PAGE = Path(__file__).parents[2] / "docs" / "facts.md"
_TABLE = re.compile(r"(?<=<!-- facts -->\n).*?(?=\n<!-- end of facts -->)", re.DOTALL)
_CODE = re.compile(r"(?<=<!-- facts in code -->\n).*?(?=\n<!-- end of facts in code -->)", re.DOTALL)
_MEANS = ("networks", "calls", "crossings", "tests")


def means(row: Row) -> str:
    """What holds a row, as the page counts it; empty where nothing does."""
    if not row.witness:
        return ""
    if row.witness.startswith(CALL):
        return "calls"
    return "tests" if "::" in row.witness else "crossings" if row.witness == "crossings" else "networks"


def table() -> str:
    """Of each table of facts: what it is about, its rows, and how many are held by what."""
    counted: dict[tuple[str, str], Counter[str]] = {}
    for row in rows():
        counted.setdefault((row.kind, row.table), Counter())[means(row)] += 1
    lines = [
        f"| facts about | table | rows | {' | '.join(_MEANS)} | not held |",
        f"|---|---|{'---|' * (len(_MEANS) + 2)}",
    ]
    total: Counter[str] = Counter()
    for (kind, name), found in sorted(counted.items()):
        total += found
        lines.append(_line(kind, f"`{name}`", found))
    return "\n".join([*lines, _line("all", "", total)])


def code_table() -> str:
    """Of each package: the facts in its code, and how many have a witness."""
    counted: dict[str, Counter[bool]] = {}
    for row in statements():
        counted.setdefault(row.kind, Counter())[bool(row.witness)] += 1
    counted["all"] = sum(counted.values(), Counter())
    lines = ["| facts in the code of | facts | held | not held |", "|---|---|---|---|"]
    for kind, found in sorted(counted.items(), key=lambda each: (each[0] == "all", each[0])):
        name = kind if kind == "all" else f"`harness.{kind}`"
        lines.append(f"| {name} | {found.total()} | {found[True]} | {found[False]} |")
    return "\n".join(lines)


def _line(kind: str, name: str, found: Counter[str]) -> str:
    cells = [kind, name, str(found.total()), *(str(found[each] or "") for each in _MEANS), str(found[""])]
    return f"| {' | '.join(cells)} |"


def written(text: str) -> str:
    """The page with the tables as they are now."""
    return _CODE.sub(lambda _: code_table(), _TABLE.sub(lambda _: table(), text))
