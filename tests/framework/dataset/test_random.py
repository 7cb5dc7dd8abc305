"""The C++ library's generators: published values, and properties of what is drawn."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from harness.framework.dataset.random import Mersenne32, Mersenne64, shuffle


def test_the_standard_names_the_ten_thousandth_value() -> None:
    # ISO C++, [rand.predef]: of default-seeded engines.
    for engine, wanted in ((Mersenne32(5489), 4123659995), (Mersenne64(5489), 9981545732273789042)):
        assert next(itertools.islice(iter(engine, None), 9999, None)) == wanted


@given(st.integers(0, 2**32 - 1), st.integers(1, 2**32 - 1))
def test_draws_stay_in_bounds(seed: int, count: int) -> None:
    random = Mersenne32(seed)
    assert all(0 <= random.below(count) < count for _ in range(20))
    assert all(0 <= random.real() < 1 for _ in range(20))
    assert all(0 <= random.real32() < 1 for _ in range(20))
    assert not any(random.chance(0) for _ in range(20))
    assert all(random.chance(1) for _ in range(20))


@given(st.integers(0, 2**32 - 1), st.integers(0, 40))
def test_a_shuffle_keeps_what_it_orders(seed: int, count: int) -> None:
    items = list(range(count))
    shuffle(items, Mersenne32(seed))
    assert sorted(items) == list(range(count))
