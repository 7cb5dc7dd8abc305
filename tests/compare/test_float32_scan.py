"""The scan of a float32 block: what it admits, and its sums."""

from __future__ import annotations

import numpy as np
import pytest

from harness.compare import float32_scan


def test_what_is_looked_at() -> None:
    one = np.array([1.0, -2.0, 0.0, 2.0**-140, 2.0**99], np.float32)
    seen = float32_scan.scan(one, np.nextafter(one, one * 2))
    assert seen is not None
    assert (seen.unequal, seen.nonzero, seen.scale, seen.furthest, seen.top) == (4, 4, 2.0**99, 1, 4)
    assert np.array_equal(seen.few, seen.steps)
    for left, right in (
        (0.0, -0.0), (-1.0, 1.0), (0.0, 1e-45), (1e-45, 0.0), (1.0, 2.0), (1e-40, 2e-40), (-0.0, np.nan),
        (np.nan, np.nan), (np.inf, np.inf), (1e35, 1e35), (1e30, 3e38), (1e-37, 1.00001e-37),
    ):  # fmt: skip
        assert float32_scan.scan(np.array([left], np.float32), np.array([right], np.float32)) is None, (
            left,
            right,
        )


def test_bits_of_unequal_signs_are_far_apart() -> None:
    """-0.0 and a NaN of all ones are neighbours modulo 2**32, and so are the largest number and the least below 0."""
    bits = np.array([0x80000000, 0x7F7FFFFF, 0x7F800000], np.uint32)
    other = np.array([0x7FFFFFFF, 0x80000001, 0x80000000], np.uint32)
    for at in range(3):
        one, two = bits[at : at + 1].view(np.float32), other[at : at + 1].view(np.float32)
        with np.errstate(all="ignore"):
            assert float32_scan.scan(one, two) is float32_scan.scan(two, one) is None


def test_sums_of_many_are_taken_in_pairs() -> None:
    numbers = np.random.default_rng(0).random(40_003).astype(np.float32)
    assert float32_scan._total(numbers) == pytest.approx(float(numbers.sum(dtype=np.float64)), rel=1e-8)
    assert float32_scan._total(np.ones(8191, np.float32)) == 8191
