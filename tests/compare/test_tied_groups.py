"""Traps with ``unique`` and non-maximum suppression: what they give may differ only where recorded values tie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness.compare import Verdict
from harness.compare.identities import Identities
from harness.compare.policy import Judgement, Party, judge
from harness.recording.described import Described
from harness.records import Record
from tests.compare.helpers import operator

RTOL = 1e-3
Values = list[Any]
Side = tuple[Values, Values]


def told(op: str, golden: Side, run: Side, *, tolerance: Any = RTOL, threshold: float | None = None) -> Judgement:
    """The judgement on an operator with these inputs and outputs, and one that reads the last output."""
    known = Described(f"Default/{op}-op0", op, attributes={} if threshold is None else {"iou_threshold": threshold})
    parties = []
    for given, made in (golden, run):
        records: list[Record] = operator(known.name, given, made, op)
        parties.append(
            Party(records, "mindspore", release="2.10.0", identities=Identities.of({(0, 0, known.name): known}))
        )
    return judge(*parties, tolerance, lay=lambda *_: None)


# -- unique ------------------------------------------------------------------------------------------------------------
FIRST, SORTED, RUNS = "Unique", "_unique2", "UniqueConsecutive"


def unique(op: str, x: Any) -> Side:
    """What the operator gives of ``x``."""
    flat = x.reshape(-1)
    if op == RUNS:
        starts = np.diff(flat, prepend=np.nan) != 0
        places = np.cumsum(starts) - 1
        return [x], [flat[starts], places.astype(np.int32), np.bincount(places).astype(np.int32)]
    values, first, places, counts = np.unique(flat, return_index=True, return_inverse=True, return_counts=True)
    if op == FIRST:
        order = np.argsort(first)
        return [x], [values[order], np.argsort(order)[places].astype(np.int32)]
    return [x], [values, places.reshape(x.shape).astype(np.int64), counts.astype(np.int64)]


def _alike(one: Any, other: Any) -> bool:
    return one.shape == other.shape and np.allclose(one, other, RTOL, 0)


def drift(x: Any, *changes: tuple[int, float]) -> Any:
    """``x`` with some elements moved by a part of their size."""
    made = x.copy()
    for at, by in changes:
        made.reshape(-1)[at] *= np.float32(1 + by)
    return made


X = np.float32([3, 1, 2, 2, 5, 1])
#: name -> operator, both inputs, whether it holds
MOVED: dict[str, tuple[str, Any, Any, bool]] = {
    f"{op}: {name}": (op, one, other, holds)
    for op in (FIRST, SORTED, RUNS)
    for name, one, other, holds in (
        ("equal values told apart", X, drift(X, (3, 0.5 * RTOL)), True),
        ("told apart at the border", X, drift(X, (3, 0.98 * RTOL)), True),
        ("told apart beyond", X, drift(X, (3, 1.2 * RTOL)), False),
        ("values put together", drift(X, (3, 0.5 * RTOL)), X, True),
        ("put together beyond", drift(X, (3, 1.2 * RTOL)), X, False),
        ("in another order", drift(X, (2, 0.4 * RTOL)), drift(X, (3, 0.4 * RTOL)), True),
        ("a value that left", X, drift(X, (4, 0.1)), False),
        ("NaN", X, drift(X, (4, np.nan)), False),
    )
}


@pytest.mark.parametrize(("op", "one", "other", "holds"), MOVED.values(), ids=MOVED)
def test_values_within_noise_may_be_told_apart(op: str, one: Any, other: Any, holds: bool) -> None:
    judged = told(op, unique(op, one), unique(op, other))
    assert judged.holds is holds
    pairs = zip(unique(op, one)[1], unique(op, other)[1], strict=True)
    changed = [a for a, b in pairs if not _alike(a, b)]
    told_as = [s for s in judged.comparison.slots if s.verdict is Verdict.WITHIN and "scores that tie" in s.reason]
    assert bool(told_as) is (holds and bool(changed))
    assert not told(op, unique(op, one), unique(op, other), tolerance="exact").holds


def _spoiled(side: Side, slot: int, change: Callable[[Any], Any]) -> Side:
    given, made = side
    return given, [change(each) if at == slot else each for at, each in enumerate(made)]


def _swapped(values: Any) -> Any:
    return np.roll(values, 1)


@pytest.mark.parametrize("op", [FIRST, SORTED, RUNS])
@pytest.mark.parametrize("slot", [0, 1, 2])
def test_a_wrong_result_is_no_tie(op: str, slot: int) -> None:
    right = unique(op, X)
    apart = unique(op, drift(X, (3, 0.5 * RTOL)))
    if slot < len(right[1]):
        assert not told(op, right, _spoiled(right, slot, _swapped)).holds
        assert not told(op, right, _spoiled(apart, slot, lambda e: e + 1)).holds
        assert not told(op, _spoiled(right, slot, lambda e: e + 1), apart).holds


def test_whole_numbers_never_tie() -> None:
    x = np.int32([3, 1, 2, 2])
    assert not told(SORTED, unique(SORTED, x), unique(SORTED, np.int32([3, 1, 2, 3]))).holds


def test_without_places_equal_values_tell_them() -> None:
    one, other = (unique(SORTED, each) for each in (X, drift(X, (3, 0.5 * RTOL))))
    assert told(SORTED, (one[0], one[1][:1]), (other[0], other[1][:1])).holds
    assert not told(SORTED, (one[0], one[1][:1]), (other[0], [other[1][0][:-1]])).holds


@pytest.mark.parametrize("seed", range(30))
def test_drawn_values(seed: int) -> None:
    """Any noise within the tolerance holds, a value beyond it never does."""
    random = np.random.default_rng(seed)
    op = (FIRST, SORTED, RUNS)[seed % 3]
    x = (random.integers(1, 5, int(random.integers(2, 20))) + random.choice([0, 2e-4], 1)).astype(np.float32)
    noisy = (x * (1 + random.choice([0, 0.3, -0.3], x.size) * RTOL)).astype(np.float32)
    wrong = drift(noisy, (int(random.integers(x.size)), 3 * RTOL))
    assert told(op, unique(op, x), unique(op, noisy)).holds
    assert not told(op, unique(op, x), unique(op, wrong)).holds


# -- non-maximum suppression -------------------------------------------------------------------------------------------
NMS, MASKED = "torchvision.nms", "NMSWithMask"
BOXES = np.float32([[0, 0, 10, 10], [1, 0, 11, 10], [20, 20, 30, 30], [20, 24, 30, 34], [50, 50, 60, 60]])
SCORES = np.float32([0.9, 0.8, 0.7, 0.6, 0.6])


def suppressed(op: str, boxes: Any, scores: Any, threshold: float) -> Side:
    """What the operator gives: each box that no better kept one overlaps."""
    order = np.argsort(-scores, kind="stable")
    kept: list[int] = []
    for at in order:
        sides = [np.minimum(boxes[at, 2:], boxes[k, 2:]) - np.maximum(boxes[at, :2], boxes[k, :2]) for k in kept]
        shared = [np.prod(each.clip(0)) for each in sides]
        area = [np.prod(boxes[k, 2:] - boxes[k, :2]) for k in (at, *kept)]
        if all(s / (area[0] + a - s) <= threshold for s, a in zip(shared, area[1:], strict=True)):
            kept.append(int(at))
    if op == NMS:
        return [boxes, scores], [np.int64(kept)]
    rows = np.concatenate([boxes, scores[:, None]], 1)
    return [rows], [rows[order], order.astype(np.int32), np.isin(order, kept)]


def moved(array: Any, at: Any, by: float) -> Any:
    """The array with an element moved by a part of its size."""
    made = array.copy()
    made[at] *= np.float32(1 + by)
    return made


#: threshold at which boxes 0 and 1 overlap: 90 of 110
EDGE = 90 / 110
#: name -> boxes and scores of both sides, threshold of the operator, threshold that is known, whether it holds
PLACED: dict[str, tuple[Any, Any, Any, Any, float, bool, bool]] = {
    "scores in another order": (BOXES, SCORES, BOXES, moved(SCORES, 4, 0.5 * RTOL), 0.5, True, True),
    "in another order, no threshold": (BOXES, SCORES, BOXES, moved(SCORES, 4, 0.5 * RTOL), 0.5, False, True),
    "at the border of noise": (BOXES, SCORES, BOXES, moved(SCORES, 4, 0.98 * RTOL), 0.5, True, True),
    "scores beyond noise": (BOXES, SCORES, BOXES, moved(SCORES, 4, 1.2 * RTOL), 0.5, True, False),
    "an overlap that ties": (BOXES, SCORES, moved(BOXES, (1, 0), -0.5 * RTOL), SCORES, EDGE, True, True),
    "an overlap beyond": (BOXES, SCORES, moved(BOXES, (1, 0), -20 * RTOL), SCORES, EDGE, True, False),
    "an overlap, no threshold": (BOXES, SCORES, moved(BOXES, (1, 0), -0.5 * RTOL), SCORES, EDGE, False, False),
    "another threshold": (BOXES, SCORES, BOXES, SCORES, 0.5, True, False),
}


@pytest.mark.parametrize("op", [NMS, MASKED])
@pytest.mark.parametrize("name", PLACED)
def test_boxes(op: str, name: str) -> None:
    boxes, scores, others, other_scores, threshold, known, holds = PLACED[name]
    golden = suppressed(op, boxes, scores, threshold)
    run = suppressed(op, others, other_scores, 0.9 if name == "another threshold" else threshold)
    judged = told(op, golden, run, threshold=threshold if known else None)
    assert golden[1][-1].tobytes() != run[1][-1].tobytes() or op == MASKED
    assert judged.holds is holds
    assert not told(op, golden, run, threshold=threshold, tolerance="exact").holds


@pytest.mark.parametrize("op", [NMS, MASKED])
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda e: e[::-1].copy(), id="reversed"),
        pytest.param(lambda e: np.roll(e, 1, 0), id="rolled"),
        pytest.param(lambda e: e[:-1], id="cut"),
    ],
)
def test_a_wrong_choice_of_boxes_is_no_tie(op: str, change: Callable[[Any], Any]) -> None:
    right = suppressed(op, BOXES, SCORES, 0.5)
    given, made = right
    assert not told(op, right, (given, [*made[:-1], change(made[-1])]), threshold=0.5).holds


def _boxes(random: np.random.Generator) -> Any:
    corners = random.integers(0, 40, (8, 2))
    return np.concatenate([corners, corners + random.integers(5, 20, (8, 2))], 1).astype(np.float32)


def _are_near(boxes: Any, threshold: float) -> bool:
    """Whether two of them overlap so that noise decides about the threshold."""
    at = [(k, n) for k in range(len(boxes)) for n in range(k)]
    scores = np.float32([0.9, 0.8])
    kept = [{suppressed(NMS, boxes[[k, n]], scores, threshold * by)[1][0].size for by in (0.95, 1.05)} for k, n in at]
    return any(len(each) > 1 for each in kept)


@pytest.mark.parametrize("seed", range(24))
def test_drawn_boxes(seed: int) -> None:
    """Noise holds; a kept box that is dropped, or one that was not kept, never does."""
    random = np.random.default_rng(seed)
    op = (NMS, MASKED)[seed % 2]
    boxes = _boxes(random)
    while _are_near(boxes, 0.3):
        boxes = _boxes(random)
    scores = random.choice(np.linspace(0.1, 0.9, 6), 8).astype(np.float32)
    noisy = (boxes * (1 + random.uniform(-0.4, 0.4, boxes.shape) * RTOL)).astype(np.float32)
    others = (scores * (1 + random.uniform(-0.4, 0.4, scores.shape) * RTOL)).astype(np.float32)
    golden, run = suppressed(op, boxes, scores, 0.3), suppressed(op, noisy, others, 0.3)
    assert told(op, golden, run, threshold=0.3).holds
    given, made = run
    last = made[-1].copy()
    if op == NMS:
        another = np.setdiff1d(range(8), last)[:1] if last.size < 8 else last[:1]
        changed = last[1:] if seed % 4 else np.append(last, another)
    else:
        changed = last.copy()
        changed[int(random.integers(8))] ^= True
    assert not told(op, golden, (given, [*made[:-1], changed]), threshold=0.3).holds
