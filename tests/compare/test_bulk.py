"""The size of most elements, however it is found; and the cheap judgement beside the one that knows it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.compare import Tolerance, admission, bulk
from harness.compare.bulk import Bulk, BulkCounter, bulk_of
from harness.compare.source import Source

BLOCK = 64
KINDS = ("normal", "half zeros", "all sizes", "even", "rows", "masked", "mostly zeros", "zeros first", "not finite")


@pytest.fixture(autouse=True, scope="module")
def small_blocks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("bulk", "admission"):
            patch.setattr(f"harness.compare.{name}.BLOCK", BLOCK)
        patch.setattr(bulk, "_SHORT", 16)
        yield


@st.composite
def pairs(draw: Any) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays of one floating-point type that differ by little, or by more here and there."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = draw(st.sampled_from([0, 1, 2, 3, 17, BLOCK, BLOCK + 1, 16 * BLOCK, 16 * BLOCK + 1, 50 * BLOCK + 3]))
    kind = draw(st.sampled_from(KINDS))
    numbers = rng.standard_normal(size) * 10.0 ** draw(st.sampled_from([0, 0, 3, -6, -30, -44]))
    match kind:
        case "half zeros":
            numbers = np.maximum(numbers, 0)
        case "all sizes":
            numbers *= 10.0 ** rng.uniform(-40, 5, size)
        case "even":
            numbers = rng.random(size)
        case "rows":
            numbers *= np.repeat(10.0 ** rng.uniform(-6, 3, size // 50 + 1), 50)[:size]
        case "masked":
            numbers[rng.random(size) < 0.3] = -1e4
        case "mostly zeros":
            numbers[rng.random(size) < 0.9] = 0
        case "zeros first":
            numbers[:BLOCK] = 0
    with np.errstate(all="ignore"):
        others = numbers * (1 + draw(st.sampled_from([0, 2e-7, 1e-5, 1e-3])) * rng.standard_normal(size))
        dtype = draw(st.sampled_from([np.float32, np.float32, np.float32, np.float16, np.float64, np.complex64]))
        one, other = numbers.astype(dtype), others.astype(dtype)
    if kind == "not finite" and size:
        one[rng.integers(size)] = draw(st.sampled_from([np.nan, np.inf]))
        other[rng.integers(size)] = draw(st.sampled_from([np.nan, -np.inf]))
    return one, other


def plainly(expected: np.ndarray, found: np.ndarray) -> Bulk:
    """``bulk_of`` as its description has it: every element is sorted."""
    step = max(1, -(-expected.size // (16 * BLOCK)))
    chosen = np.arange(expected.size) // BLOCK % step == 0
    expected, found = expected[chosen], found[chosen]
    with np.errstate(all="ignore"):
        size = np.abs(expected.astype(np.complex128))
    used = np.isfinite(size) & (size > 0)
    masks = used & (size >= 2**13) & (expected == found)
    sizes = np.sort(size[used & ~masks] if (used & ~masks).any() else size[masks])
    if not sizes.size:
        return Bulk(0.0, 0.0)
    few = 1 + sizes.size // 64 if sizes.size > 1 else 0
    _, exponents = np.frexp(sizes)
    most, top = 2.0 ** (exponents[(sizes.size + 1) // 2 - 1] - 1), 2.0 ** exponents[sizes.size - few - 1]
    return Bulk(most, min(16 * top, 2**13 * most))


@given(pair=pairs())
def test_it_is_what_sorting_gives(pair: tuple[np.ndarray, np.ndarray]) -> None:
    one, other = pair
    assert bulk_of(Source(one), Source(other)) == plainly(one, other)


def test_a_few_comparisons_are_enough_for_most_tensors() -> None:
    rng = np.random.default_rng(0)
    for numbers in (rng.standard_normal(40 * BLOCK), np.maximum(rng.laplace(size=BLOCK * 10), 0), rng.random(999)):
        counter = BulkCounter(numbers.size)
        for at in range(0, numbers.size, BLOCK):
            assert counter.bulk() is None
            counter.add(*(numbers[at : at + BLOCK],) * 2)
        assert counter.bulk() == plainly(numbers, numbers)


@given(
    pair=pairs(),
    rtol=st.sampled_from([0, 1e-5, 1e-3, 1e-31, 1e29]),
    atol=st.sampled_from([0, 0, 0, 1e-6, 1e-45, 1e30]),
    scaled=st.sampled_from([1e-6, 1e-6, 1e-3, 1e25, 1e33]),
)
def test_the_quick_judgement_is_that_of_the_known_bulk(
    pair: tuple[np.ndarray, np.ndarray], rtol: float, atol: float, scaled: float
) -> None:
    """What one pass shows without the bulk, the passes that know it show, too."""
    one, other = (side.real.astype(np.float32) for side in pair)
    tolerance = Tolerance(rtol=rtol, atol=atol, scaled=scaled)
    sides = Source(one), Source(other)
    with np.errstate(all="ignore"):
        known, assumed = bulk_of(*sides), admission._assumed(*sides, tolerance)
        first = max(map(bulk.peak, islice(sides[0].blocks(BLOCK), 1)), default=0.0)
        largest = max(map(bulk.peak, sides[0].blocks(BLOCK)), default=0.0)
        by_bulk = any(
            admission._whole(*sides, tolerance, min(scale, known.reach), known.size) for scale in (first, largest)
        )
    assert admission.surely_within(one, other, tolerance) == by_bulk
    assert by_bulk or not assumed


def test_one_pass_is_enough_for_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "bulk_of", None)
    rng = np.random.default_rng(0)
    for numbers in (rng.standard_normal(40 * BLOCK + 5), np.maximum(rng.laplace(size=999), 0), np.zeros(99)):
        one = numbers.astype(np.float32)
        other = (one * (1 + 2e-7 * rng.standard_normal(one.size))).astype(np.float32)
        assert admission.surely_within(one, other, Tolerance(rtol=1e-5, scaled=1e-6))
