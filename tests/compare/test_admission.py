"""The cheap judgement never admits what the exact one does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness.compare import DEFAULTS, EXACT, Tolerance, Verdict, check, measure
from harness.compare.admission import surely_within
from harness.compare.bulk import BLOCK
from tests.store.helpers import record

LIMITS = st.one_of(st.just(0.0), st.floats(1e-45, 1e3))


@given(
    bits=hnp.arrays(np.uint32, st.integers(1, 6)),
    steps=hnp.arrays(np.int32, 6, elements=st.integers(-200, 200)),
    rtol=LIMITS,
    atol=LIMITS,
    scaled=st.sampled_from([0.0, 1e-6]),
)
def test_surely_within_is_within(bits: Any, steps: Any, rtol: float, atol: float, scaled: float) -> None:
    expected = bits.view(np.float32)
    found = (bits + steps[: bits.size].astype(np.uint32)).view(np.float32)
    tolerance = Tolerance(rtol=rtol, atol=atol, scaled=scaled)
    if surely_within(expected, found, tolerance):
        assert measure(expected, found, "Float32", tolerance).is_within


@pytest.mark.parametrize("tolerance", [DEFAULTS["Float32"], Tolerance(rtol=1e-5), Tolerance(atol=1e-5)], ids=str)
def test_small_errors_are_seen_to_be_within(tolerance: Tolerance) -> None:
    expected = np.linspace(-1, 1, 2 * BLOCK + 7, dtype=np.float32)
    expected[:9] = 0
    found = expected * np.float32(1 + 2**-20)
    assert surely_within(expected, found, tolerance)
    found[-1] += 1
    assert not surely_within(expected, found, tolerance)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_in_doubt(value: float) -> None:
    for one, other in ((value, 1.0), (1.0, value), (value, value), (value, -value)):
        pair = (np.array([0, one], np.float32), np.array([0, other], np.float32))
        assert not surely_within(*pair, Tolerance(rtol=0.5, atol=1.0))


def test_what_it_does_not_judge_is_in_doubt() -> None:
    one = np.ones((3, 4), np.float32)
    assert not surely_within(one, one, EXACT)
    assert not surely_within(one, one.T, Tolerance(rtol=1))
    assert not surely_within(one.astype(np.float64), one.astype(np.float64), Tolerance(rtol=1))


def test_a_gate_need_not_measure_what_is_within() -> None:
    one, other = np.ones(9, np.float32), np.full(9, 1 + 2**-20, np.float32)
    for measured in (True, False):
        slot = check([record(one)], [record(other)], "default", measured=measured).slots[0]
        assert slot.verdict is Verdict.WITHIN
        assert (slot.measurement is not None) == measured
    slot = check([record(one)], [record(other * 2)], "default", measured=False).slots[0]
    assert slot.verdict is Verdict.DIFFERS
    assert slot.measurement is not None
