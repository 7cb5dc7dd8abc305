"""Proofs that what ``unique`` and non-maximum suppression gave differs by ties alone, from all that they took and gave.

Their results may even have other shapes: two values within noise are one on one side and two on the other. Nothing is
admitted unless the golden's results are right for the golden's inputs, and the run's for the inputs of both sides
within the tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
#: arrays by slot
Slots = Mapping[int, Array]
#: the admitted error of each element
Slack = Callable[[Array], Array]

#: more boxes are not compared with each other
_MOST_BOXES = 2048
#: products of float32 coordinates, in units of the largest coordinate
_ROUNDING = 2.0**-20


# -- unique ------------------------------------------------------------------------------------------------------------
def unique_ties(given: tuple[Slots, Slots], made: tuple[Slots, Slots], slack: Slack, runs: bool) -> bool:
    """Whether two results of ``unique`` tell values apart otherwise only where these tie.

    Args:
        given: what it took, golden and run: the values, [any shape], floats.
        made: what it gave: values [k] at slot 0, then, in any order and not all of them, the place of each value among
            them [shape of the values], and how often each is there [k].
        slack: see ``Slack``.
        runs: whether only values next to each other are put together.
    """
    (x, y), (kept, found) = (
        [np.ravel(each[0]) for each in given], [np.ravel(each[0]) for each in made],
    )  # fmt: skip
    if x.size != y.size or not all(np.isfinite(each).all() for each in (x, y, kept, found)):
        return False
    near = [np.array_equal, lambda one, other: not np.any(np.abs(one - other) > slack(other))]
    places = [_places(*each, runs) for each in zip(made, (x, y), near, strict=True)]
    if places[0] is None or places[1] is None:
        return False
    told = found[places[1]]
    if any(np.any(np.abs(told - each) > slack(each)) for each in (x, y, kept[places[0]])):
        return False
    right = all(_counts_are_right(each, at) for each, at in zip(made, places, strict=True) if at is not None)
    return right and _are_grouped(kept, found, places[0], places[1], slack, runs)


def _places(made: Slots, x: Array, near: Callable[[Array, Array], bool], runs: bool) -> Array | None:
    """The place of each value: as recorded, else by equal values; None if neither is right."""
    values = np.ravel(made[0])
    for slot, each in made.items():
        at = np.ravel(each)
        if slot and at.size == x.size and _is_numbering(at, values.size, runs) and near(values[at], x):
            return at
    if runs:
        at = np.cumsum(np.diff(x, prepend=x[:1]) != 0)
    else:
        order = np.argsort(values, kind="stable")
        at = order[np.clip(np.searchsorted(values[order], x), 0, max(values.size - 1, 0))] if values.size else order
    return at if _is_numbering(at, values.size, runs) and np.array_equal(values[at], x) else None


def _is_numbering(at: Array, count: int, runs: bool) -> bool:
    """Whether all places are there, one after another if neighbours are put together."""
    if not np.array_equal(np.unique(at), np.arange(count)):
        return False
    return not runs or bool(np.all(np.diff(at) >= 0))


def _counts_are_right(made: Slots, places: Array) -> bool:
    counts = np.bincount(places, minlength=made[0].size)
    others = [np.ravel(each) for slot, each in made.items() if slot]
    return all(np.array_equal(each, counts) or np.array_equal(each, places) for each in others)


def _are_grouped(kept: Array, found: Array, one: Array, other: Array, slack: Slack, runs: bool) -> bool:
    """Whether values that are told apart differ, and both sides have them in an order of the same kind."""
    if runs:
        return all(bool(np.all(np.diff(each) != 0)) for each in (kept, found))
    if any(np.unique(each).size != each.size for each in (kept, found)):
        return False
    ascending = bool(np.all(np.diff(kept) > 0)) and not np.any(np.diff(found) < -slack(found)[1:])
    return ascending or (_is_by_first(one) and _is_by_first(other))


def _is_by_first(places: Array) -> bool:
    """Whether values are numbered as they come."""
    return bool(np.all(np.diff(np.unique(places, return_index=True)[1]) > 0))


# -- non-maximum suppression -------------------------------------------------------------------------------------------
def suppression_ties(
    given: tuple[Slots, Slots], made: tuple[Slots, Slots], slack: Slack, threshold: float | None
) -> bool:
    """Whether two results of a non-maximum suppression differ only where scores tie, or overlaps tie with the
    threshold.

    Args:
        given: boxes [n, 4] and scores [n], golden and run; or both in one [n, 5].
        made: the kept places [k]; or rows [n, 5], places [n] and what is kept of them [n], as ``NMSWithMask`` gives.
        slack: see ``Slack``.
        threshold: of the overlap; None if it is not known: then the golden's own overlaps bound it.
    """
    sides = [side for each in given if (side := _boxes(each)) is not None]
    ways = [way for each in made if (way := _kept(each)) is not None]
    if len(sides) + len(ways) < 4:
        return False
    (order, kept), (orders, found) = ways
    number = len(sides[0][1])
    if len(sides[1][1]) != number or number > _MOST_BOXES or not _are_rows(given[1], made[1], orders, slack):
        return False
    if not all(_are_places(each, number) for each in (order, kept, orders, found)):
        return False
    exact = [_ROUNDING * np.abs(each).max(initial=0.0) + np.zeros_like(each) for each in sides[0]]
    bounds = (threshold, threshold) if threshold is not None else _bounds(sides[0][0], kept)
    if not _is_valid(sides[0], order, kept, (exact[0], np.zeros_like(exact[1])), bounds):
        return False
    return all(_is_valid(side, orders, found, (slack(side[0]), slack(side[1])), bounds) for side in sides)


def _are_places(places: Array, number: int) -> bool:
    inside = not places.size or (places.min() >= 0 and places.max() < number)
    return bool(inside and np.unique(places).size == places.size)


def _boxes(given: Slots) -> tuple[Array, Array] | None:
    """Boxes [n, 4] and scores [n] in float64; None if it took something else."""
    tensors = [each.astype(np.float64) for _, each in sorted(given.items())]
    if len(tensors) == 1 and tensors[0].ndim == 2 and tensors[0].shape[1] == 5:
        boxes, scores = tensors[0][:, :4], tensors[0][:, 4]
    elif len(tensors) == 2 and tensors[0].shape == (*tensors[1].shape, 4) and tensors[1].ndim == 1:
        boxes, scores = tensors
    else:
        return None
    return (boxes, scores) if np.isfinite(boxes).all() and np.isfinite(scores).all() else None


def _kept(made: Slots) -> tuple[Array, Array] | None:
    """The places in order of their scores, as far as they are given, and those that are kept."""
    results = [each for _, each in sorted(made.items())]
    if len(results) == 1 and results[0].ndim == 1:
        return results[0], results[0]
    if len(results) == 3 and results[1].shape == results[2].shape == results[0].shape[:1]:
        return results[1], results[1][results[2].astype(bool)]
    return None


def _are_rows(given: Slots, made: Slots, order: Array, slack: Slack) -> bool:
    """Whether rows that are given back are those that were taken, in that order."""
    if len(made) == 1:
        return True
    rows, taken = made[min(made)], given[min(given)]
    return rows.shape == taken.shape and bool(np.all(np.abs(rows - taken[order]) <= slack(taken)[order]))


def _is_valid(
    side: tuple[Array, Array], order: Array, kept: Array, slack: tuple[Array, Array], bounds: tuple[float, float]
) -> bool:
    """Whether places stand in order of their scores, no two that are kept overlap, and each other one overlaps one of
    those before it."""
    boxes, scores = side
    if np.any(scores[order][1:] > scores[order][:-1] + slack[1][order][1:]):
        return False
    least, most = _overlaps(boxes, slack[0])
    if np.any(np.triu(least[np.ix_(kept, kept)], 1) > bounds[0]):
        return False
    others = np.setdiff1d(np.arange(len(scores)), kept)
    first = scores[kept][:, None] + slack[1][kept][:, None] >= scores[others]
    return bool(np.all(np.any(first & (most[np.ix_(kept, others)] >= bounds[1]), axis=0)))


def _overlaps(boxes: Array, slack: Array) -> tuple[Array, Array]:
    """The least and the largest overlap that each two boxes may have, [n, n], if every edge may be moved."""
    inner, outer = boxes + slack * [1, 1, -1, -1], boxes - slack * [1, 1, -1, -1]
    found = []
    for one, other in ((inner, outer), (outer, inner)):
        sides = np.minimum(one[:, None, 2:], one[:, 2:]) - np.maximum(one[:, None, :2], one[:, :2])
        shared = np.prod(sides.clip(0), -1)
        areas = np.prod((other[:, 2:] - other[:, :2]).clip(0), -1)
        whole = areas[:, None] + areas - shared
        found.append(np.divide(shared, whole, out=np.zeros_like(shared), where=whole > 0))
    return found[0], found[1]


def _bounds(boxes: Array, kept: Array) -> tuple[float, float]:
    """What the golden's result tells of the threshold: the largest overlap it kept, and the least that it did not."""
    overlaps = _overlaps(boxes, np.zeros_like(boxes))[0]
    others = np.setdiff1d(np.arange(len(boxes)), kept)
    low = np.triu(overlaps[np.ix_(kept, kept)], 1).max(initial=0.0)
    high = overlaps[np.ix_(kept, others)].max(axis=0, initial=0.0).min(initial=1.0)
    return float(low), float(high)
