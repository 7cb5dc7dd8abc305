"""A thread that reads ahead changes only who waits."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.capture.pump import pumped


def threads() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name == "msdump-reader"]


@given(st.lists(st.integers(), max_size=30))
def test_everything_comes_in_order(items: list[int]) -> None:
    assert list(pumped(items)) == items
    assert threads() == []


def test_an_error_comes_after_what_was_made_before_it() -> None:
    def source() -> Iterator[int]:
        yield from range(7)
        raise OSError("gone")

    reader = pumped(source())
    assert [next(reader) for _ in range(7)] == list(range(7))
    with pytest.raises(OSError, match="gone"):
        next(reader)
    assert threads() == []


def test_nothing_is_made_far_ahead_and_the_thread_ends_with_its_reader() -> None:
    made = []

    def source() -> Iterator[int]:
        for number in range(1000):
            made.append(number)
            yield number

    reader = pumped(source())
    assert [next(reader) for _ in range(3)] == [0, 1, 2]
    reader.close()  # type: ignore[attr-defined]
    assert threads() == []
    assert len(made) < 10
