"""Which of equal elements a selection takes: the order in which MindSpore's CPU kernels leave indices.

TopK selects with C++'s ``std::nth_element`` as libstdc++ has it (a quickselect around the median of three, then an
insertion sort of what is left) and orders the selected stably, or sorts all stably if more than half are wanted.
Where elements are equal, the indices depend on these steps, so they are taken one by one.

Source: MindSpore 2.10.0 CPU, measured (``tests/data/ops/edges.json``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness.framework.ops.base import Array

Before = Callable[[int, int], bool]


def largest(keys: Array, k: int, in_order: bool) -> Array:
    """Indices (int64) of the ``k`` largest of each row of ``keys`` (..., n), in the order TopK gives them.

    Args:
        keys: numbers that compare as the elements do.
        k: how many, 0 to n.
        in_order: largest first (``sorted``); else as they were left.
    """
    n = keys.shape[-1]
    stable: Array = n - 1 - np.argsort(keys[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    if in_order and k > n // 2:
        return np.array(stable[..., :k])
    picked: Array = stable[..., :k].copy()
    found = np.take_along_axis(keys, stable[..., : k + 1], -1)
    # If the keys that matter are all different, there is only one order.
    plain = (found[..., 1:] < found[..., :-1]).all(-1) if in_order else np.zeros(keys.shape[:-1], bool)
    for row in np.argwhere(~plain):
        at = tuple(row)
        picked[at] = _selected(keys[at].tolist(), k, in_order)
    return picked


def _selected(values: list[Any], k: int, in_order: bool) -> list[int]:
    index = list(range(len(values)))
    nth_element(index, k, lambda a, b: bool(values[a] > values[b]))
    head = index[:k]
    return sorted(head, key=lambda i: values[i], reverse=True) if in_order else head


def nth_element(items: list[int], nth: int, before: Before) -> None:
    """Moves the ``nth`` of ``items`` to its place, smaller ones in front, as libstdc++ does."""
    first, last = 0, len(items)
    if first == last or nth == last:
        return
    depth = 2 * (last.bit_length() - 1)
    while last - first > 3:
        if depth == 0:
            _heap_select(items, first, nth + 1, last, before)
            items[first], items[nth] = items[nth], items[first]
            return
        depth -= 1
        cut = _partition(items, first, last, before)
        if cut <= nth:
            first = cut
        else:
            last = cut
    _insertion_sort(items, first, last, before)


def _partition(items: list[int], first: int, last: int, before: Before) -> int:
    _median_to(items, first, (first + 1, first + (last - first) // 2, last - 1), before)
    pivot, low, high = first, first + 1, last
    while True:
        while before(items[low], items[pivot]):
            low += 1
        high -= 1
        while before(items[pivot], items[high]):
            high -= 1
        if low >= high:
            return low
        items[low], items[high] = items[high], items[low]
        low += 1


def _median_to(items: list[int], result: int, places: tuple[int, int, int], before: Before) -> None:
    a, b, c = places
    if before(items[a], items[b]):
        chosen = b if before(items[b], items[c]) else c if before(items[a], items[c]) else a
    else:
        chosen = a if before(items[a], items[c]) else c if before(items[b], items[c]) else b
    items[result], items[chosen] = items[chosen], items[result]


def _insertion_sort(items: list[int], first: int, last: int, before: Before) -> None:
    for at in range(first + 1, last):
        value = items[at]
        if before(value, items[first]):
            items[first + 1 : at + 1] = items[first:at]
            items[first] = value
            continue
        while before(value, items[at - 1]):
            items[at] = items[at - 1]
            at -= 1
        items[at] = value


def _heap_select(items: list[int], first: int, middle: int, last: int, before: Before) -> None:
    length = middle - first
    for parent in range((length - 2) // 2, -1, -1):
        _adjust(items, first, parent, length, items[first + parent], before)
    for at in range(middle, last):
        if before(items[at], items[first]):
            value, items[at] = items[at], items[first]
            _adjust(items, first, 0, length, value, before)


def _adjust(items: list[int], first: int, hole: int, length: int, value: int, before: Before) -> None:
    top, child = hole, hole
    while child < (length - 1) // 2:
        child = 2 * (child + 1)
        if before(items[first + child], items[first + child - 1]):
            child -= 1
        items[first + hole] = items[first + child]
        hole = child
    if length % 2 == 0 and child == (length - 2) // 2:
        child = 2 * (child + 1)
        items[first + hole] = items[first + child - 1]
        hole = child - 1
    parent = (hole - 1) // 2
    while hole > top and before(items[first + parent], value):
        items[first + hole] = items[first + parent]
        hole, parent = parent, (parent - 1) // 2
    items[first + hole] = value
