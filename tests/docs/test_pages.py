"""What the pages show is what a reader gets: files, commands, outputs, code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import Reader, blocks, commands, matches
from tests.docs.pictures import failure, holds
from tests.docs.pictures import shown as quoted
from tests.subprocesses import ROOT

FOLDERS = ("tutorial", "how-to", "reference", "explanation")
FOUND = (path for folder in FOLDERS for path in (ROOT / "docs" / folder).rglob("*.md"))
PAGES = ["README.md", "docs/index.md", *sorted(path.relative_to(ROOT).as_posix() for path in FOUND)]


# What a newcomer runs first; tox -e docs runs them all.
WEIGHED = [page if page == "README.md" else pytest.param(page, marks=pytest.mark.deep) for page in PAGES]


@pytest.mark.parametrize("page", WEIGHED)
def test_a_reader_gets_what_the_page_shows(page: str, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for block in blocks(ROOT / page):
        for command, shown, printed in reader.follow(block):
            told = f"{page}, line {block.line + 1}: {command}\n--- the page shows\n{shown}\n--- it prints\n{printed}"
            assert matches(shown, printed), told


@pytest.mark.deep
def test_the_readmes_failure_is_what_a_run_prints(tmp_path: Path) -> None:
    printed = failure(tmp_path)
    assert not [line for line in quoted() if not holds(line, printed)], printed
    assert (tmp_path / "report.html").exists()


def test_lines_of_the_readmes_failure_are_compared() -> None:
    assert len(quoted()) >= 5
    assert holds("at [4] ...; 5 of 5", "x\nat [4] expected 1; 5 of 5\n")
    assert not holds("at [4] ...; 5 of 6", "x\nat [4] expected 1; 5 of 5\n")


def test_outputs_are_compared() -> None:
    assert matches("a\n...\nd", "a\nb\nc\nd")
    assert matches("a\n...", "a\nb")
    assert not matches("a\nb", "a\nc")
    assert not matches("a\n...\nd", "a\nb\nc")


def test_commands_of_a_block() -> None:
    assert commands("$ a \\\n  b\nout\n$ c\n") == [("a \\\n  b", "out"), ("c", "")]
