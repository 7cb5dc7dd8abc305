"""``numpy_state`` gives numpy's global generator back as ``np.random.get_state`` and ``set_state`` do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import numpy_state

DRAWS = {
    "uniform": lambda: np.random.rand(3),
    "pair": lambda: np.random.randn(2),
    "half": lambda: np.random.randn(1),  # leaves a second number pending
    "seed": lambda: np.random.seed(7),
    "taken": lambda: numpy_state.taken(),
}


@pytest.fixture(autouse=True)
def kept() -> Iterator[None]:
    """Other tests draw as if this one had not."""
    state = np.random.get_state()
    yield
    np.random.set_state(state)


@given(
    before=st.lists(st.sampled_from(sorted(DRAWS)), max_size=5),
    within=st.lists(st.sampled_from(sorted(DRAWS)), max_size=5),
    rounds=st.integers(1, 3),
)
def test_the_same_numbers_follow(before: list[str], within: list[str], rounds: int) -> None:
    for _ in range(rounds):
        for name in before:
            DRAWS[name]()
        expected = np.random.get_state()
        state = numpy_state.taken()
        for name in within:
            DRAWS[name]()
        numpy_state.restore(state)
        found = np.random.get_state()
        assert (found[0], *found[2:]) == (expected[0], *expected[2:])
        assert (found[1] == expected[1]).all()


@given(before=st.lists(st.sampled_from(sorted(DRAWS)), max_size=5), numbers=st.lists(st.integers(0, 3), min_size=1))
def test_a_seed_is_that_of_numpy(before: list[str], numbers: list[int]) -> None:
    for number in numbers:
        for name in before:
            DRAWS[name]()
        numpy_state.seed(number)
        found = np.random.get_state()
        np.random.seed(number)
        expected = np.random.get_state()
        assert (found[0], *found[2:]) == (expected[0], *expected[2:])
        assert (found[1] == expected[1]).all()
