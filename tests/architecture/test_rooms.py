"""The rooms and arrows that docs/architecture.md draws: what is there, few enough, and no circle."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import pytest

from tests.architecture.rooms import arrows, drawing
from tests.architecture.source import PAGE, Import, imports

ROOMS, ARROWS = 34, 160


def test_the_page_draws_what_is_there() -> None:
    assert drawing() in PAGE.read_text(encoding="utf-8"), "python -m tests.architecture.rooms draws it"


def test_there_are_few_and_no_circle() -> None:
    drawn = arrows(imports())
    assert len(drawn) <= ROOMS
    assert sum(map(len, drawn.values())) <= ARROWS
    tuple(TopologicalSorter(drawn).static_order())


def test_an_arrow_up_is_a_circle() -> None:
    up = Import("harness.errors", "harness.store.read", 1, lazy=True, typing_only=False)
    drawn = arrows([*imports(), up])
    assert "store" in drawn["foundation"]
    with pytest.raises(CycleError):
        tuple(TopologicalSorter(drawn).static_order())
