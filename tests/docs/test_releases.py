"""The page of releases says what the rules of each generation say."""

from __future__ import annotations

from harness.dump.generations import GENERATIONS
from tests.docs import releases


def test_the_table_is_the_rules() -> None:
    page = releases.PAGE.read_text(encoding="utf-8")
    assert page.split(releases.BEGIN)[1].split(releases.END)[0] == releases.table()


def test_every_generation_has_rows() -> None:
    assert all(len(releases.rows(generation)) >= 3 for generation in GENERATIONS)
