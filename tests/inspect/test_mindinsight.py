"""MindInsight's conditions, with its defaults and with drawn thresholds, beside an independent numpy computation."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.inspect import RULES, inspect
from tests.inspect.made import Made

Array = np.ndarray[Any, np.dtype[Any]]
STEPS = 3
CONDITIONS = sorted(name for name in RULES if RULES.get(name).group == "mindinsight" and "operator" not in name)


def drawn(rng: np.random.Generator) -> Array:
    """A tensor: ordinary, zeros, tiny, large, or with NaN or infinity."""
    x = rng.normal(size=(2, 3)) * float(rng.choice([1e-6, 1, 1e4]))
    kind = rng.integers(6)
    if kind == 0:
        x[:] = 0
    if kind == 1:
        x[rng.integers(2), rng.integers(3)] = rng.choice([np.nan, np.inf, -np.inf])
    return x.astype(np.float32)


def expected(name: str, values: list[Array], s: dict[str, float]) -> bool:
    """Whether the condition holds, by MindInsight's definition, for a tensor's values in time."""
    kind = name.removeprefix("mindinsight-")
    with np.errstate(all="ignore"):
        if kind.endswith(("overflow", "exploding")):
            return any(bool(np.isnan(v).any() or np.isinf(v).any()) for v in values)
        if "change" in kind:
            return any(moved(kind, a.astype(float), b.astype(float), s) for a, b in itertools.pairwise(values))
        if kind == "weight-initialization":
            values = values[:1]
        return any(beyond(kind, v.astype(float), s) for v in values)


def moved(kind: str, old: Array, new: Array, s: dict[str, float]) -> bool:
    if kind == "weight-not-changed":
        near = np.isfinite(old) & np.isfinite(new) & (np.abs(new - old) <= s["atol"] + s["rtol"] * np.abs(old))
        return bool(np.all(near | (new == old)))
    ratio = np.mean(np.abs(new - old)) / (np.mean(np.abs(old)) + s["epsilon"])
    large = kind.endswith("large")
    return bool(ratio > s["abs_mean_update_ratio_gt"] if large else ratio < s["abs_mean_update_ratio_lt"])


def beyond(kind: str, v: Array, s: dict[str, float]) -> bool:
    if kind.endswith("range"):
        share = 100 * np.count_nonzero((v >= s["range_start_inclusive"]) & (v <= s["range_end_inclusive"])) / v.size
        span = np.max(v) - np.min(v)
        asked = not np.isnan(s["range_start_inclusive"] + s["range_end_inclusive"])
        by_share = asked and (share < s["range_percentage_lt"] or share > s["range_percentage_gt"])
        return bool(by_share or span < s["max_min_lt"] or span > s["max_min_gt"])
    facts = {"abs_mean": np.mean(np.abs(v)), "max": np.max(v), "min": np.min(v), "mean": np.mean(v)}
    facts["zero_percentage"] = 100 * np.count_nonzero(v == 0) / v.size
    above = [facts[n[:-3]] > x for n, x in s.items() if n.endswith("_gt")]
    below = [facts[n[:-3]] < x for n, x in s.items() if n.endswith("_lt")]
    from_on = [facts[n[:-3]] >= x for n, x in s.items() if n.endswith("_ge")]
    return bool(any([*above, *below, *from_on]))


@pytest.mark.parametrize("name", CONDITIONS)
@settings(max_examples=6, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_a_condition_hits_what_numpy_says(name: str, seed: int, defaults: bool) -> None:
    rng = np.random.default_rng(seed)
    weights, outputs, gradients = ([drawn(rng) for _ in range(STEPS + 1)] for _ in range(3))
    if rng.random() < 0.4:  # weights that change a little, or not
        scale = float(rng.choice([0, 1e-7, 1e-3, 0.5]))
        weights = [(weights[0] * (1 + scale * at)).astype(np.float32) for at in range(STEPS + 1)]
    run = Made()
    x = np.ones((3, 2), np.float32)
    for run.step in range(STEPS):
        y = run.op("Default/a/relu-op0", "relu", [x], [outputs[run.step]])
        run.op("Default/fc/mm-op0", "mm", [y, weights[run.step]], [np.ones((2, 3), np.float32)])
        run.slot("w.grad", "Gradient", "output", 0, gradients[run.step])
        run.parameter("w", weights[run.step + 1])
    known = {each: p.default for each, p in RULES.get(name).parameters.items()}
    if not defaults:
        known = {each: float(rng.choice([value, rng.normal(), 50.0])) for each, value in known.items()}
    report = inspect(run.capture(), [name], settings={f"{name}.{each}": value for each, value in known.items()})
    hits = {each.operator for each in report.findings}
    looked_at = {"weight": ("w", weights), "gradient": ("w", gradients[:STEPS])}
    target, values = looked_at.get(name.split("-")[1], ("Default/a/relu-op0", outputs[:STEPS]))
    zeros = any(not array.any() for array in (*weights, *outputs))
    if target == "w" and (zeros or len({w.tobytes() for w in weights[:STEPS]}) < STEPS):
        return  # equal contents: no graph says which of them the operator reads
    assert (target in hits) == expected(name, values, known), (known, values)
