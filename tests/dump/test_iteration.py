"""The ``iteration`` grammar: any text is either refused or selects what its parts say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dump import iteration

LABELS = (0, 1, 2, 5, 9, 10, 11, 99, 2**32 - 1)


def says(part: str, label: int) -> bool:
    """One part, by the words of the reference."""
    ends = part.split("-")
    if len(ends) > 2 or not all(ends):
        return False
    numbers = [int(end) for end in ends]
    return max(numbers) < 2**64 and numbers[0] <= label <= numbers[-1]


@given(st.text("0123459-|", min_size=1, max_size=12))
def test_every_wellformed_text_selects_what_its_parts_say(text: str) -> None:
    assert iteration.is_wellformed(text)
    chosen = iteration.parse(text)
    for label in LABELS:
        assert (label in chosen) == any(says(part, label) for part in text.split("|"))


@given(st.integers(0, 2**66), st.integers(0, 2**66))
def test_numbers_over_64_bits_select_nothing(first: int, last: int) -> None:
    chosen = iteration.parse(f"{first}-{last}")
    fits = last < 2**64 and first < 2**64
    assert (first in chosen) == (fits and first <= last)
    assert bool(chosen.oversized) == (not fits)


@given(st.text(max_size=8))
def test_other_characters_are_refused(text: str) -> None:
    if text == "all" or (text and set(text) <= set("0123456789-|")):
        assert iteration.is_wellformed(text)
    else:
        assert not iteration.is_wellformed(text)
        with pytest.raises(ValueError, match="takes digits"):
            iteration.parse(text)


def test_all_selects_every_label_and_nothing_else() -> None:
    assert all(label in iteration.parse("all") for label in LABELS)
    assert "0" not in iteration.parse("all")


def test_absurdly_long_numbers_are_read() -> None:
    assert 7 in iteration.parse("0" * 10_000 + "7")
    assert iteration.parse("9" * 10_000).oversized
