"""What the pages show is what a reader gets: files, commands, outputs, code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import Reader, blocks, commands, matches
from tests.docs.pictures import QUOTING, failure, holds
from tests.docs.pictures import shown as quoted
from tests.subprocesses import ROOT

PAGES = ["README.md", "AGENTS.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))]

# What a newcomer runs first; tox -e docs runs them all.
WEIGHED = [page if page in ("README.md", "AGENTS.md") else pytest.param(page, marks=pytest.mark.deep) for page in PAGES]


@pytest.mark.parametrize("page", WEIGHED)
def test_a_reader_gets_what_the_page_shows(page: str, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for block in blocks(ROOT / page):
        for command, shown, printed in reader.follow(block):
            told = f"{page}, line {block.line + 1}: {command}\n--- the page shows\n{shown}\n--- it prints\n{printed}"
            assert matches(shown, printed), told


def test_every_block_is_followed_or_says_why_not() -> None:
    """A text, a configuration of another tool, and README's two blocks (``.ci/run`` runs them) are shown only."""
    left = []
    for page in PAGES:
        for block in blocks(ROOT / page):
            shown_only = block.language in ("text", "yaml") or (page == "README.md" and block.language == "sh")
            if not (shown_only or block.title is not None or block.language in ("console", "python")):
                left.append(f"{page}, line {block.line + 1}: {block.info!r}")
    assert not left


@pytest.mark.deep
def test_the_failure_that_pages_quote_is_what_a_run_prints(tmp_path: Path) -> None:
    printed = failure(tmp_path)
    for page in QUOTING:
        assert not [line for line in quoted(page) if not holds(line, printed)], f"{page}:\n{printed}"
    assert (tmp_path / "report.html").exists()


def test_lines_of_the_quoted_failure_are_compared() -> None:
    assert all(len(quoted(page)) >= 5 for page in QUOTING)
    assert holds("at [4] ...; 5 of 5", "x\nat [4] expected 1; 5 of 5\n")
    assert not holds("at [4] ...; 5 of 6", "x\nat [4] expected 1; 5 of 5\n")


def test_outputs_are_compared() -> None:
    assert matches("a\n...\nd", "a\nb\nc\nd")
    assert matches("a\n...", "a\nb")
    assert not matches("a\nb", "a\nc")
    assert not matches("a\n...\nd", "a\nb\nc")


def test_commands_of_a_block() -> None:
    assert commands("$ a \\\n  b\nout\n$ c\n") == [("a \\\n  b", "out"), ("c", "")]
