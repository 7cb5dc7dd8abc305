"""Judging again without the arrays: the same answer as with them, or none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness.compare import Tolerance, measure
from harness.compare.needed_tolerance import RUNGS, NeededTolerance

VALUES = st.floats(-1e6, 1e6, width=32)
PAIRS = st.integers(1, 6).flatmap(lambda n: st.tuples(*[hnp.arrays(np.float32, n, elements=VALUES)] * 2))


def needed(expected: Any, found: Any) -> NeededTolerance:
    made = measure(expected, found, "Float32").needed
    assert made is not None
    return made


@given(
    pair=PAIRS,
    rtol=st.one_of(st.sampled_from(RUNGS), st.floats(0, 2)),
    atol=st.sampled_from([0.0, 1e-6, 1e-2, 1.0, 1e3]),
    scaled=st.sampled_from([0.0, 1e-6]),
    max_ulp=st.sampled_from([0, 1, 100]),
)
def test_it_never_contradicts_the_arrays(pair: Any, rtol: float, atol: float, scaled: float, max_ulp: int) -> None:
    tolerance = Tolerance(rtol=rtol, atol=atol, scaled=scaled, max_ulp=max_ulp)
    answer = needed(*pair).admits(tolerance)
    assert answer in (None, measure(*pair, "Float32", tolerance).is_within)


@given(pair=PAIRS, close=st.floats(0, 1e-4))
def test_it_tells_where_only_one_limit_is_set(pair: Any, close: float) -> None:
    expected = pair[0]
    found = (expected * np.float32(1 + close)).astype(np.float32)
    made = needed(expected, found)
    m = measure(expected, found, "Float32")
    assert made.admits(Tolerance(atol=float(m.max_abs))) is True
    assert made.admits(Tolerance(atol=float(m.max_abs) / 2)) is (not m.max_abs)
    assert made.admits(Tolerance(max_ulp=m.max_ulp or 0)) is True
    for rung in RUNGS:
        assert made.admits(Tolerance(rtol=rung)) is not None or np.isclose(m.max_rel, rung, rtol=1e-6)


def test_the_documented_tolerance_excuses_one_unit() -> None:
    expected = np.array([1e-45, 1.0], np.float32)
    found = np.array([3e-45, 1.0], np.float32)
    assert needed(expected, found).admits(Tolerance(rtol=1e-5, max_ulp=1)) is True
    assert needed(expected, found).admits(Tolerance(rtol=1e-5)) is False
    assert needed(expected, np.array([1.0, 1.0], np.float32)).admits(Tolerance(rtol=1e-5, max_ulp=1)) is False


def test_nothing_admits_a_nan() -> None:
    one = np.ones(3, np.float32)
    assert measure(one, one * np.float32(np.nan), "Float32").needed is None


def test_infinite_errors_are_admitted_by_nothing_finite() -> None:
    top = np.array([np.finfo(np.float64).max])
    made = measure(top, -top, "Float64").needed
    assert made is not None
    assert made.admits(Tolerance(atol=1e300, rtol=0.5)) in (False, None)


@given(pair=PAIRS)
def test_json(pair: Any) -> None:
    made = needed(*pair)
    assert NeededTolerance.from_json(made.as_json()) == made


def test_bad_json() -> None:
    with pytest.raises(ValueError, match="rungs"):
        NeededTolerance.from_json({"every": [1], "apart": [1], "max_ulp": 0, "scale": 0})
