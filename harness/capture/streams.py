"""Executions of several directories, by their start."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

Item = TypeVar("Item")


class Stream(NamedTuple, Generic[Item]):
    """The executions of one directory, by their start.

    Attributes:
        first, last: no execution starts before or after them.
        items: the executions.
    """

    first: int
    last: int
    items: Iterable[Item]


def merged(streams: Iterable[Stream[Item]], key: Callable[[Item], Any]) -> Iterator[Item]:
    """What ``heapq.merge`` gives of all ``items``.

    Steps follow each other, so most directories have a stretch of time to themselves: only those that overlap are
    merged, because a merge looks at the key of each item.

    Args:
        key: sorts the items; its first item is between ``first`` and ``last`` of the stream.
    """
    together: list[tuple[int, Stream[Item]]] = []
    last = 0
    for number, stream in sorted(enumerate(streams), key=lambda each: each[1].first):
        if together and stream.first > last:
            yield from _together(together, key)
            together = []
        last = max(last, stream.last) if together else stream.last
        together.append((number, stream))
    yield from _together(together, key)


def _together(streams: list[tuple[int, Stream[Item]]], key: Callable[[Item], Any]) -> Iterable[Item]:
    """The items of streams, which are given with their places: of equal keys that of the first stream comes first."""
    if len(streams) == 1:
        return streams[0][1].items
    return heapq.merge(*(stream.items for _, stream in sorted(streams, key=lambda each: each[0])), key=key)
