"""Executions of several directories come as a merge of all of them gives them."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from harness.capture.streams import Stream, merged


def by_start(item: tuple[int, int]) -> int:
    return item[0]


@given(st.lists(st.lists(st.integers(0, 30), max_size=5).map(sorted), max_size=6), st.booleans())
def test_directories_are_merged(times: list[list[int]], apart: bool) -> None:
    """``apart``: directories have stretches of time of their own, but for some."""
    if apart:
        times = [[time // 3 + 10 * number for time in each] for number, each in enumerate(times)]
    runs = [[(time, number) for time in each] for number, each in enumerate(times)]
    streams = [Stream(each[0][0], each[-1][0], iter(each)) if each else Stream(0, 0, ()) for each in runs]
    assert list(merged(streams, by_start)) == list(heapq.merge(*runs, key=by_start))


def test_a_directory_begins_when_its_time_comes() -> None:
    begun = []

    def items(number: int) -> Iterator[tuple[int, int]]:
        begun.append(number)
        yield number, 0

    found = merged([Stream(number, number, items(number)) for number in (2, 0, 1)], by_start)
    assert [(next(found)[0], list(begun)) for _ in range(3)] == [(0, [0]), (1, [0, 1]), (2, [0, 1, 2])]
