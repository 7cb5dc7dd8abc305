"""Differences of texts: complete, in order, bounded, in time that grows as the texts do."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.compare import line_diff as module
from harness.compare.line_diff import LINES, WIDTH, Hunk, LineDiff, blocks, line_diff

TEXTS = st.lists(st.sampled_from([*"abcdef", *(f"line {n}" for n in range(12))]), max_size=40)


def patched(expected: list[str], diff: LineDiff) -> list[str]:
    """``expected`` with the hunks applied; asserts that they fit."""
    result: list[str] = []
    at = 0
    for hunk in diff.hunks:
        result += expected[at : hunk.expected - 1]
        at = hunk.expected - 1
        assert len(result) == hunk.found - 1
        for tag, line in hunk.lines:
            if tag != "+":
                assert expected[at] == line
                at += 1
            if tag != "-":
                result.append(line)
    return result + expected[at:]


@given(expected=TEXTS, found=TEXTS, context=st.integers(0, 4), anchored=st.booleans())
def test_the_hunks_make_one_text_of_the_other(
    expected: list[str], found: list[str], context: int, anchored: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if anchored:
            patch.setattr(module, "_PRODUCT", 0)
        diff = line_diff(expected, found, context, limit=10_000)
        together = blocks(expected, found)
    assert patched(expected, diff) == found
    assert diff.left_out == 0
    assert (diff.hunks == ()) is (expected == found)
    assert diff.removed - diff.added == len(expected) - len(found)
    assert all(one.equal != other.equal for one, other in itertools.pairwise(together))
    assert all(expected[b.old : b.old_end] == found[b.new : b.new_end] for b in together if b.equal)


@given(expected=TEXTS, found=TEXTS, limit=st.integers(1, 12))
def test_what_is_left_out_is_counted(expected: list[str], found: list[str], limit: int) -> None:
    whole, cut = line_diff(expected, found, limit=10_000), line_diff(expected, found, limit=limit)
    assert sum(len(hunk.lines) for hunk in cut.hunks) <= limit
    shown = sum(tag != " " for hunk in cut.hunks for tag, _ in hunk.lines)
    assert cut.left_out == whole.removed + whole.added - shown


def test_numbers_and_context() -> None:
    old = [f"{n}" for n in range(1, 21)]
    new = [line if line != "10" else "ten" for line in old]
    assert line_diff(old, new, context=1).hunks == (
        Hunk(9, 9, ((" ", "9"), ("-", "10"), ("+", "ten"), (" ", "11"))),
    )  # fmt: skip
    assert line_diff(["a"], ["b", "a"]).hunks == (Hunk(1, 1, (("+", "b"), (" ", "a"))),)


def test_of_long_lines_that_part_is_shown_where_they_differ() -> None:
    old, new = "x" * 5000 + "old" + "y" * 5000, "x" * 5000 + "new" + "y" * 5000
    (hunk,) = line_diff([old], [new]).hunks
    assert ["old" in hunk.lines[0][1], "new" in hunk.lines[1][1]] == [True, True]
    assert max(len(line) for _, line in hunk.lines) <= WIDTH + 6


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["moved", "few", "nothing in common", "one line again and again"])
def test_long_texts_take_no_long_time(kind: str) -> None:
    rng = random.Random(1)
    old = [f"node {n} {rng.random()}" for n in range(30_000)]
    new = {
        "moved": [*old[10_000:], *old[:10_000]],
        "few": [line if n % 3000 else "changed" for n, line in enumerate(old)],
        "nothing in common": [f"other {n}" for n in range(30_000)],
        "one line again and again": ["x"] * 30_000,
    }[kind]
    if kind == "one line again and again":
        old = ["x", "y"] * 15_000
    diff = line_diff(old, new)
    assert sum(len(hunk.lines) for hunk in diff.hunks) <= LINES
    assert diff.removed + diff.added == {
        "moved": 20_000, "few": 20, "nothing in common": 60_000, "one line again and again": diff.removed + diff.added
    }[kind]  # fmt: skip
