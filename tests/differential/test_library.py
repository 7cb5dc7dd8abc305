"""Calls of the library's other rooms give what they give under the real MindSpore."""

from __future__ import annotations

import ast
import random
from collections import Counter

import pytest

from tests.differential.calls import difference
from tests.differential.library import BEGIN, FAMILIES, LINES, compared, draws, listed, parts, program
from tests.differential.side import Side
from tests.differential.sides import Pair


def test_draws_are_those_of_their_seed_and_parse() -> None:
    first = draws(400, 5)
    assert first == draws(400, 5)
    assert first != draws(400, 6)
    assert not any("<" in call.replace("<=", "") for call in draws(60, 1, ["numpy"]))
    ast.parse(program(first))
    compile(BEGIN, "prelude", "exec")


def test_every_family_is_drawn() -> None:
    for family in (*LINES, *FAMILIES):
        assert len(set(draws(20, 3, [family]))) > 15


def test_the_first_parts_that_differ_are_shown() -> None:
    one, other = ["Int32", [1], ["1"]], ["Int32", [1], ["2"]]
    assert parts(["tuple", [one, one]], ["tuple", [one, other]]) == (one, other)


def wrong(both: tuple[Side, Side], seed: int, count: int) -> tuple[Counter[str], list[str]]:
    """How many calls agree or differ by kind, and the lines of those that gave another value."""
    kinds: Counter[str] = Counter()
    lines: list[str] = []
    with Pair(both) as pair:
        for call, own, real in compared(pair, draws(count, seed)):
            kind, text = difference(own, real)
            kinds[kind or "agree"] += 1
            if kind in ("value", "type", "ends") and not listed(call):
                lines.append(f"{kind}: {call}: {text[:300]}")
    return kinds, lines


@pytest.mark.interop
def test_drawn_calls_have_few_wrong_values(both: tuple[Side, Side]) -> None:
    kinds, lines = wrong(both, 21, 160)
    assert len(lines) <= 3, "\n".join([str(dict(kinds)), *lines])


@pytest.mark.interop
@pytest.mark.deep
def test_many_drawn_calls_have_few_wrong_values(both: tuple[Side, Side]) -> None:
    seed = random.randrange(10**6)
    kinds, lines = wrong(both, seed, 1600)
    assert len(lines) <= 0.015 * kinds.total(), "\n".join([f"seed {seed}", str(dict(kinds)), *lines])
