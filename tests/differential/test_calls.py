"""Calls with drawn arguments give what they give under the real MindSpore."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.differential.calls import compared, difference, draws
from tests.differential.side import Side
from tests.differential.sides import Pair

pytestmark = pytest.mark.interop


def wrong(both: tuple[Side, Side], seed: int, count: int) -> tuple[Counter[str], list[str]]:
    """How many calls agree or differ by kind, and the lines of those that gave another value."""
    kinds: Counter[str] = Counter()
    lines: list[str] = []
    with Pair(both) as pair:
        for call, mode, own, real in compared(pair, draws(count, seed)):
            kind, text = difference(own, real)
            kinds[kind or "agree"] += 1
            if kind in ("value", "type", "ends"):
                lines.append(f"{kind} [{mode}] {call}: {text[:300]}")
    return kinds, lines


def test_drawn_calls_have_no_wrong_value(both: tuple[Side, Side]) -> None:
    kinds, lines = wrong(both, 17, 60)
    assert not lines, "\n".join([str(dict(kinds)), *lines])


@pytest.mark.deep
def test_many_drawn_calls_have_few_wrong_values(both: tuple[Side, Side]) -> None:
    seed = random.randrange(10**6)
    kinds, lines = wrong(both, seed, 600)
    assert len(lines) <= 0.01 * kinds.total(), "\n".join([f"seed {seed}", str(dict(kinds)), *lines])
