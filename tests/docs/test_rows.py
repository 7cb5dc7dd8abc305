"""Rows of ``docs/differences.md`` stay true: each that a program shows still differs as it did when it was measured."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.differential.side import Side
from tests.docs.rows import RECORDED, outcomes, programs, rows_of_the_page
from tests.interop.conftest import mindspore_python, mindspore_side

__all__ = ["mindspore_python", "mindspore_side"]

KNOWN = json.loads(RECORDED.read_text(encoding="utf-8"))
#: what a row says that takes nothing
REFUSED = re.compile(r"^(All of these are r|R)efused\b|\braises? when (it|they)\b")


def test_each_program_shows_one_row() -> None:
    rows = [" | ".join(cells) for cells in rows_of_the_page()]
    assert [start for start in programs() if sum(row.startswith(start) for row in rows) != 1] == []


def test_each_program_is_recorded() -> None:
    assert list(KNOWN) == list(programs())


@pytest.mark.long
def test_each_row_still_differs_as_it_says(tmp_path: Path) -> None:
    side = Side(sys.executable, own=True)
    try:
        found = dict(zip(programs(), outcomes(side, programs().values(), tmp_path), strict=True))
    finally:
        side.close()
    assert found == {row: both["here"] for row, both in KNOWN.items()}
    assert [row for row, both in KNOWN.items() if both["here"] == both["there"]] == []


def test_what_is_refused_fails() -> None:
    """A row that says "Refused" is stale once the thing works."""
    says = {" | ".join(cells): cells[1] for cells in rows_of_the_page() if len(cells) > 1}
    works = []
    for row, both in KNOWN.items():
        (cell,) = (cell for text, cell in says.items() if text.startswith(row))
        if REFUSED.search(cell) and not any(line.startswith(("error: ", "refused")) for line in both["here"]):
            works.append(row)
    assert works == []


@pytest.mark.interop
def test_the_real_one_gives_what_is_recorded(mindspore_side: Side, tmp_path: Path) -> None:
    found = dict(zip(programs(), outcomes(mindspore_side, programs().values(), tmp_path), strict=True))
    assert found == {row: both["there"] for row, both in KNOWN.items()}
