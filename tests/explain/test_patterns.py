"""Each pattern is seen where its difference was made, and nowhere else."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.explain.patterns import PATTERNS, Pair, find_pattern
from tests.explain.made_differences import FITS, MADE, SHAPES, tensor
from tests.explain.reapplied import given

SEEDS = range(12)


def _looks(kind: str) -> list[Pair]:
    looks = []
    for seed in SEEDS:
        for shape in SHAPES:
            if FITS.get(kind, bool)(shape):
                random = np.random.default_rng([seed, len(shape)])
                looks.append(MADE[kind](random, tensor(random, shape)))
    return looks


def test_every_pattern_is_tested() -> None:
    assert set(MADE) == set(PATTERNS)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", MADE)
def test_a_made_difference_is_named(kind: str) -> None:
    found = [find_pattern(pair) for pair in _looks(kind)]
    assert [each.kind if each else None for each in found] == [kind] * len(found)


@pytest.mark.parametrize("kind", MADE)
def test_what_is_called_exact_is(kind: str) -> None:
    for pair in _looks(kind):
        finding = find_pattern(pair)
        assert finding is not None
        if finding.exact:
            check = json.loads(json.dumps(finding.check.to_json()))
            assert given(check, pair.expected, pair.inputs).tobytes() == pair.found.tobytes()
        if finding.exact and kind == "factor":
            times = float(finding.text.split("times ")[1])
            assert np.array_equal((pair.e * times).astype(pair.found.dtype), pair.found)


@pytest.mark.parametrize("seed", SEEDS)
def test_other_values_are_like_nothing(seed: int) -> None:
    """Another weight, another formula: no pattern speaks."""
    random = np.random.default_rng(seed)
    for shape in SHAPES:
        e, f = tensor(random, shape), tensor(random, shape)
        inputs = {"input.0": tensor(random, shape), "input.1": tensor(random, shape)}
        assert find_pattern(Pair(e, f, inputs, "MatMul")) is None
        assert find_pattern(Pair(np.tanh(e), np.where(e > 0, e, 0).astype(np.float32), {"input.0": -e}, "Tanh")) is None


def test_a_channel_is_more_than_an_element_and_every_one_is_counted() -> None:
    e = np.arange(1, 25, dtype=np.float32)
    few = np.where(e < 8, np.float32(0), e)
    alone = find_pattern(Pair(e.reshape(24, 1, 1), few.reshape(24, 1, 1)))
    assert alone is not None
    assert alone.kind == "flushed"
    wide = np.tile(e[:, None], (1, 3))
    found = find_pattern(Pair(wide, np.where(np.isin(wide, (3, 5, 9, 11, 20, 24)), np.float32(0), wide)))
    assert found is not None
    assert "at index 2, 4, 8, 10 and 2 more of axis 0" in found.text


def test_equal_tensors_show_nothing() -> None:
    array = np.ones(5, np.float32)
    assert find_pattern(Pair(array, array.copy())) is None


def test_values_that_cancel_are_not_called_narrow() -> None:
    """Diagnosis, false statement 3: a gradient that cancels to 4e-9 has few bits in any type."""
    e = np.array([4.2e-9, -3.1e-9, 1.7e-9, 9.3e-10, 2.2e-9, -8.8e-10, 1.23e-9, -5e-10], np.float32)
    f = np.array([2.0**-28, -(2.0**-29), 2.0**-30, 0, 2.0**-28, -(2.0**-30), 2.0**-29, 3 * 2.0**-31], np.float32)
    finding = find_pattern(Pair(e, f, {}, "BiasAddGrad"))
    assert finding is None or finding.kind != "narrower type"


BIG = np.random.default_rng(3).standard_normal((6, 7)).astype(np.float32)
STRIPES, OTHER = np.zeros_like(BIG), np.zeros_like(BIG)
STRIPES[-1], OTHER[0] = 5, BIG[0]
FEW = np.zeros((3, 5), np.float32)
FEW[0, 1] = FEW[1, 3] = FEW[2, 0] = 1
EDGE = np.random.default_rng(6).standard_normal((2, 2, 6, 6)).astype(np.float32)
EDGE[..., 1:-1, 1:-1] = 0


@pytest.mark.parametrize(
    ("expected", "found", "words"),
    [
        (BIG * 0, -(np.abs(BIG) * 0), None),
        (np.where(BIG > 1, BIG, 0), np.where(BIG > 1, BIG, np.float32(-0.0)), None),
        (np.where(BIG > 1, np.nan, BIG), np.where(BIG > 1, np.float32(65504), BIG), None),
        (STRIPES, OTHER, None),
        (BIG.astype(np.float64) * 1e200, BIG.astype(np.float64) * 1.5e200, "found is expected times 1.5"),
        (BIG, (BIG + np.random.default_rng(4).standard_normal(BIG.shape) * 1e-6).astype(np.float32), None),
        (BIG, BIG + np.float32(0.5), "plus 0.5"),
        (BIG[0, 0], BIG[0, 0] * np.float32(0.25), "found is expected times 0.25"),
        (BIG[0, 0], BIG[1, 1], None),
        (FEW, FEW.T.reshape(3, 5), "axes in the order [1, 0]"),
        (FEW[:2, :2], FEW[:2, :2].T, None),
        (np.where(BIG > 0, BIG, -1), np.where(BIG > 0, BIG, np.float32(-0.25)), "stop at -0.25"),
        (EDGE * 0, EDGE, "the border of the last two axes differs (80 of 80 elements differ there)"),
    ],
    ids=[
        "zeros",
        "signs of zeros",
        "a number for NaN",
        "stripes",
        "too large",
        "noise",
        "offset",
        "a number",
        "any number",
        "few values",
        "too few",
        "one value stops",
        "no padding",
    ],
)
def test_what_it_looks_like_or_does_not(expected: np.ndarray, found: np.ndarray, words: str | None) -> None:
    finding = find_pattern(Pair(np.asarray(expected), np.asarray(found), {}, "Mul"))
    assert (finding is None) if words is None else (finding is not None and words in finding.text)


@pytest.mark.parametrize("size", [0.0003, 0.001, 0.003])
def test_multiplied_noise_is_no_rounding(size: float) -> None:
    values, noise = np.random.default_rng(5).standard_normal((2, 60, 70))
    large = values.astype(np.float32)
    assert find_pattern(Pair(large, large * (1 + size * noise).astype(np.float32), {}, "X")) is None


def test_a_limit_has_its_name() -> None:
    e = np.array([1e5, 2.0, 7e5, 1.0, -2.5], np.float32)
    finding = find_pattern(Pair(e, np.minimum(e, 65504), {}, "Mul"))
    assert finding is not None
    assert (
        finding.text
        == "2 elements stop at 65504 (the largest float16) where more is expected, all others are as expected"
    )
