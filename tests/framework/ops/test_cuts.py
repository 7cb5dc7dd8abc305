"""What ``cuts`` gives lies within its bound of the exact sums, and its slices are as short as their products need."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.framework.ops import cuts
from tests.framework.ops.test_products import cancelled, spread

Array = np.ndarray[Any, np.dtype[Any]]


def summed(*pieces: tuple[Array, Array]) -> tuple[Array, Array, Array]:
    """The whole product of pieces as one tile."""
    shape = 1, len(pieces[0][0]), pieces[0][1].shape[1]
    product = cuts.Product(shape)
    tile = slice(0, 1), slice(0, shape[1]), slice(0, shape[2])
    for a, b in pieces:
        product.add(cuts.left(a[None]), cuts.right(b[None]), [tile])
    return product.tile(tile)


def assert_within(*pieces: tuple[Array, Array]) -> None:
    near, rest, bound = (each[0] for each in summed(*pieces))
    a, b = np.hstack([a for a, _ in pieces]), np.vstack([b for _, b in pieces])
    for i, j in np.ndindex(near.shape):
        exact = sum(
            (Fraction(x) * Fraction(y) for x, y in zip(a[i].tolist(), b[:, j].tolist(), strict=True)), Fraction()
        )
        assert abs(exact - Fraction(near[i, j]) - Fraction(rest[i, j])) <= Fraction(bound[i, j])


@settings(max_examples=40)
@given(
    sizes=st.tuples(st.integers(1, 4), st.lists(st.integers(1, 9), min_size=1, max_size=3), st.integers(1, 4)),
    powers=st.sampled_from([0, 3, 30, 120]),
    cut=st.sampled_from([2, 256]),
    seed=st.integers(0, 2**32),
)
def test_the_exact_sums_lie_within_the_bound(
    sizes: tuple[int, list[int], int], powers: int, cut: int, seed: int
) -> None:
    random = np.random.Generator(np.random.PCG64(seed))
    m, parts, n = sizes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuts, "_CHUNK", cut)
        assert_within(*((spread(random, (m, k), powers), spread(random, (k, n), powers)) for k in parts))


def test_sums_that_cancel_lie_within_the_bound() -> None:
    a, b = cancelled(np.random.Generator(np.random.PCG64(5)), 3, 40, 3)
    assert_within((a, b))
    assert_within((a[:, :30], b[:30]), (a[:, 30:], b[30:]))


def test_nothing_is_open_where_slices_are_the_whole() -> None:
    random = np.random.Generator(np.random.PCG64(6))
    a, b = (random.integers(-(2**9), 2**9, shape).astype(np.float64) for shape in ((5, 70), (70, 6)))
    near, rest, bound = summed((a, b))
    assert not bound.any()
    assert not rest.any()
    np.testing.assert_array_equal(near[0], a @ b)


@pytest.mark.parametrize("k", [1, 2, 700, 3000])
@pytest.mark.parametrize("step", range(4))
def test_sums_of_products_of_slices_are_whole_numbers_of_53_bits(k: int, step: int) -> None:
    """Rows of equal numbers are the longest for their units; around the length where the unit doubles."""
    size = 2.0**0.5 / k**0.5 * (1 - step * 2.0**-12)
    value = np.nextafter(size, 0) * (1 - 2.0**-30)
    one, other = cuts.left(np.full((1, 1, k), value)), cuts.right(np.full((1, k, 1), value))
    for part in one.slices:
        ours, theirs = (Fraction(float(each.flat[0])) for each in (part, other.slices[0]))
        units = [Fraction(1, each.denominator) for each in (ours, theirs)]
        assert k * abs(ours * theirs) <= 2**53 * units[0] * units[1]


def test_the_parts_are_the_whole() -> None:
    random = np.random.Generator(np.random.PCG64(7))
    x = spread(random, (9, 40), 60)[None]
    for cut in (cuts.left(x), cuts.right(x)):
        parts = [*cut.slices, cut.rest]
        np.testing.assert_array_equal(sum(parts), x)
