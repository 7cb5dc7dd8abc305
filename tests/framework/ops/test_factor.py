"""A matrix that is multiplied many times gives the sums of ``numerics.matmul``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import dtypes
from harness.framework.ops import numerics, products
from harness.framework.ops.factor import Factor
from harness.framework.ops.operators import lstm
from tests.framework.ops.test_products import as_bits, cancelled, expected, spread

Array = np.ndarray[Any, np.dtype[Any]]


@settings(max_examples=60)
@given(
    sizes=st.tuples(st.integers(0, 5), st.integers(0, 9), st.integers(0, 5)),
    powers=st.tuples(*[st.sampled_from([0, 3, 12, 40, 300])] * 2),
    narrow=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_sums_are_the_exact_ones_rounded_once(
    sizes: tuple[int, int, int], powers: tuple[int, int], narrow: bool, seed: int
) -> None:
    random = np.random.Generator(np.random.PCG64(seed))
    m, k, n = sizes
    with np.errstate(all="ignore"):
        a, b = spread(random, (m, k), powers[0]), spread(random, (k, n), powers[1])
        b = np.nan_to_num(b.astype(np.float32), posinf=1, neginf=1).astype(np.float64) if narrow else b
        np.testing.assert_array_equal(as_bits(Factor(b).times(a)), as_bits(expected(a, b, dtypes.float64)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("powers", [0, 12, 40])
@pytest.mark.parametrize("narrow", [True, False])
def test_long_sums_are_those_of_the_other_ways(powers: int, narrow: bool) -> None:
    random = np.random.Generator(np.random.PCG64(3))
    b = spread(random, (700, 90), powers)
    b = b.astype(np.float32).astype(np.float64) if narrow else b
    factor = Factor(b)
    for a in (spread(random, (17, 700), 2), spread(random, (17, 700), 30), np.zeros((3, 700)), np.ones((80, 700))):
        assert factor.times(a).tobytes() == numerics.matmul(a, b).tobytes()


def test_sums_that_cancel_and_what_is_no_number() -> None:
    random = np.random.Generator(np.random.PCG64(5))
    a, b = cancelled(random, 6, 20, 7)
    assert Factor(b).times(a).tobytes() == numerics.matmul(a, b).tobytes()
    a[1, 2] = np.inf
    assert Factor(b).times(a).tobytes() == numerics.matmul(a, b).tobytes()
    b[0, 0] = np.nan
    assert Factor(b).times(a).tobytes() == numerics.matmul(a, b).tobytes()


def test_numbers_that_were_float32_need_no_other_way(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.Generator(np.random.PCG64(6))
    a, b = random.standard_normal((16, 385)), random.uniform(-1, 1, (385, 512)).astype(np.float32).astype(np.float64)
    whole = numerics.matmul(a, b)
    monkeypatch.setattr(products, "_sliced", None)
    assert Factor(b).times(a).tobytes() == whole.tobytes()


def test_steps_are_handed_out_once_and_forgotten_where_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    walked = lstm._Walked()
    steps = [tuple(np.zeros(8) for _ in range(7))]
    keys = [walked.key(np.full(3, at)) for at in range(3)]
    assert len(set(keys)) == 3
    assert walked.key(np.zeros((3, 1))) != walked.key(np.zeros((1, 3)))
    monkeypatch.setattr(lstm._Walked, "_ROOM", 2 * 7 * 64)
    for key in keys:
        walked.keep(key, steps)
    assert [walked.take(key) is steps for key in (*keys, keys[2])] == [False, True, True, False]
