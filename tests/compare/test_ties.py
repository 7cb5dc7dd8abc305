"""Traps with indices: they may differ only where the recorded scores prove a tie within the tolerance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness.compare import Verdict
from harness.compare.policy import Judgement, Party, judge
from harness.records import Record
from tests.compare.helpers import operator

RTOL = 1e-3
SCORES = np.float32([[5, 1, 4, 3, 2, 0.5], [1, 2, 3, 4, 5, 6]])
ARGMAX, ARGMIN, TOPK, SORT = "Argmax", "aten.argmin", "TopK", "Sort"
MAX, MIN = "max", "aten.min.dim"  # the value and its index
LARGEST, SMALLEST = (ARGMAX, MAX), (ARGMIN, MIN)


def chosen(op: str, scores: Any) -> Any:
    """Indices as the operator gives them, of the last axis."""
    if op in LARGEST:
        return scores.argmax(-1).astype(np.int32)
    if op in SMALLEST:
        return scores.argmin(-1).astype(np.int64)
    order = np.argsort(-scores, -1, kind="stable") if op == TOPK else np.argsort(scores, -1, kind="stable")
    return order[..., : 3 if op == TOPK else None].astype(np.int32)


def side(op: str, scores: Any, indices: Any, kept: bool = True) -> list[Record]:
    """The operator, and one that reads its indices."""
    where = f"Default/{op}-op0"
    places = indices.astype(np.int64)
    taken = np.take_along_axis(scores, places if op in (TOPK, SORT) else places[..., None], -1)
    values = [] if op in (ARGMAX, ARGMIN) or kept is None else [taken if op in (TOPK, SORT) else taken[..., 0]]
    made = operator(where, [scores] if kept else [], [*values, indices], op)
    return [*made, *operator("Default/Cast-op1", [indices], [np.float32(1)], "Cast")]


def told(op: str, golden: Any, run: Any, *, tolerance: Any = RTOL, kept: bool = True) -> Judgement:
    """The judgement on two pairs of scores and indices."""
    parties = [Party(side(op, *each, kept), "mindspore", release="2.10.0") for each in (golden, run)]
    return judge(*parties, tolerance, lay=lambda *_: None)


def close(op: str, apart: float) -> tuple[Any, Any, Any]:
    """Scores whose two best lie so far apart (relative to the better one), and the indices with and without a swap."""
    scores = SCORES.copy()
    if op in (*LARGEST, TOPK):
        scores[0, 0], scores[0, 2] = 5, 5 * (1 - apart)
        one, other = 0, 2
    else:
        scores[0, 5], scores[0, 1] = 0.5, 0.5 * (1 + apart)
        one, other = 5, 1
    right = chosen(op, scores)
    swapped = right.copy()
    if op in (*LARGEST, *SMALLEST):
        swapped[0] = one + other - right[0]
    else:
        places = [int(np.flatnonzero(right[0] == each)[0]) for each in (one, other)]
        swapped[0, places] = swapped[0, places[::-1]]
    return scores, right, swapped


Trap = tuple[str, Callable[[], Judgement], bool]


def traps() -> list[Trap]:
    found: list[Trap] = []

    def add(name: str, holds: bool, made: Callable[[], Judgement]) -> None:
        found.append((name, made, holds))

    for op in (ARGMAX, ARGMIN, MAX, MIN, TOPK, SORT):
        for apart, holds in (
            (0, True),
            (1e-6, True),
            (0.5 * RTOL, True),
            (0.98 * RTOL, True),
            (1.1 * RTOL, False),
            (0.1, False),
        ):
            scores, right, swapped = close(op, apart)
            add(f"{op}: {apart:g} apart", holds, lambda o=op, s=scores, a=right, b=swapped: told(o, (s, a), (s, b)))  # type: ignore[misc]
        scores, right, swapped = close(op, 1e-6)
        drifted = (scores * np.float32(1 + 1e-5)).astype(np.float32)
        far = (scores * np.float32(1 + 1e-2)).astype(np.float32)
        apart = close(op, 0.05)[0]
        add(
            f"{op}: drifted scores", True, lambda o=op, s=scores, d=drifted, a=right, b=swapped: told(o, (s, a), (d, b))
        )  # type: ignore[misc]
        add(f"{op}: other scores", False, lambda o=op, s=scores, d=far, a=right, b=swapped: told(o, (s, a), (d, b)))  # type: ignore[misc]
        add(
            f"{op}: no tie in the golden",
            False,
            lambda o=op, s=scores, d=apart, a=right, b=swapped: told(o, (d, a), (s, b)),
        )  # type: ignore[misc]
        add(f"{op}: no scores", False, lambda o=op, s=scores, a=right, b=swapped: told(o, (s, a), (s, b), kept=False))  # type: ignore[misc]
        add(
            f"{op}: bits are asked",
            False,
            lambda o=op, s=scores, a=right, b=swapped: told(o, (s, a), (s, b), tolerance="exact"),
        )  # type: ignore[misc]
    for op in (TOPK, SORT):
        scores, right, swapped = close(op, 1e-6)
        twice, outside = swapped.copy(), swapped.copy()
        twice[0, :2], outside[0, 0] = twice[0, 0], -1
        add(f"{op}: one index twice", False, lambda o=op, s=scores, a=right, b=twice: told(o, (s, a), (s, b)))  # type: ignore[misc]
        add(f"{op}: an index that is none", False, lambda o=op, s=scores, a=right, b=outside: _outside(o, s, a, b))  # type: ignore[misc]
    whole = np.int32([[5, 5, 1], [1, 2, 3]])
    a, b = np.int32([0, 2]), np.int32([1, 2])
    add("scores of whole numbers", False, lambda: told(ARGMAX, (whole, a), (whole, b)))
    flat = np.float32([[5, 5, 1], [1, 2, 3]])
    add("Gather is no choice", False, lambda: told("GatherNd", (flat, a), (flat, b)))
    return found


def _outside(op: str, scores: Any, right: Any, wrong: Any) -> Judgement:
    sides = [side(op, scores, right) for _ in range(2)]
    for each in sides[1]:
        if each.dtype == "Int32":
            each.values = wrong
    return judge(*(Party(each, "mindspore", release="2.10.0") for each in sides), RTOL, lay=lambda *_: None)


TRAPS = traps()


def test_fifty() -> None:
    assert len(TRAPS) >= 50


@pytest.mark.parametrize(("trap", "holds"), [pytest.param(made, holds, id=name) for name, made, holds in TRAPS])
def test_a_trap(trap: Callable[[], Judgement], holds: bool) -> None:
    judged = trap()
    assert judged.holds is holds
    if holds:
        (reason,) = {
            slot.reason for slot in judged.comparison.slots if slot.verdict is Verdict.WITHIN and "Int" in slot.dtype
        }
        assert reason.endswith("all between scores that tie")


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_any_axis_and_shape(seed: int, axis: int) -> None:
    """Drawn scores with ties: swapping within ties holds, swapping beyond does not."""
    rng = np.random.default_rng([seed, axis])
    shape = tuple(rng.integers(3, 6, size=3))
    scores = rng.permuted(
        np.broadcast_to(np.arange(shape[axis]), np.moveaxis(np.empty(shape), axis, -1).shape), axis=-1
    )
    scores = np.moveaxis(scores, -1, axis).astype(np.float32) + 1
    order = np.argsort(-scores, axis).astype(np.int64)
    lines = np.moveaxis(order, axis, -1)
    swapped = lines.copy()
    at = tuple(int(rng.integers(n)) for n in lines.shape[:-1])
    swapped[at][:2] = lines[at][1::-1]
    run = np.ascontiguousarray(np.moveaxis(swapped, -1, axis))
    tied = np.moveaxis(scores.copy(), axis, -1)
    tied[at][lines[at][1]] = tied[at][lines[at][0]] * np.float32(1 - 1e-5)
    tied = np.ascontiguousarray(np.moveaxis(tied, -1, axis))
    for given, holds in ((tied, True), (scores, False)):
        made = [operator("Default/Sort-op0", [given], [indices], "Sort") for indices in (order, run)]
        parties = [Party(each, "mindspore", release="2.10.0") for each in made]
        assert judge(*parties, RTOL, lay=lambda *_: None).holds is holds
