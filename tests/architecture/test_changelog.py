"""The changelog begins with what breaks for its reader."""

from __future__ import annotations

import re

from tests.architecture.source import ROOT

SECTIONS = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]


def test_what_breaks_stands_first_and_is_short() -> None:
    newest = SECTIONS[0]
    title, _, rest = newest.partition("\n### ")[2].partition("\n")
    assert title == "What breaks, and what to do"
    rows = [line for line in rest.partition("\n### ")[0].splitlines() if line.strip()]
    assert 1 <= len(rows) <= 12
    for row in rows:
        assert re.match(r"- \*\*.+\*\*", row), f"what breaks in bold, then what to do: {row}"
        assert len(row) <= 200


def test_no_mark_of_a_conflict_is_left() -> None:
    marks = ("<<<<<<< ", ">>>>>>> ", "=======\n")
    assert not any(part.startswith(marks) or f"\n{mark}" in part for part in SECTIONS for mark in marks)
