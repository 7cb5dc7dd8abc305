"""Judging by statistics: what a tolerance admits is admitted; what no element could explain is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness.compare import Tolerance, measure
from harness.compare.by_statistics import changed_statistics, statistics_within
from harness.stats import describe

numbers = st.floats(-1e6, 1e6, width=32) | st.sampled_from([0.0, -0.0])
tolerance = st.builds(Tolerance, rtol=st.floats(0, 0.5), atol=st.floats(0, 10), scaled=st.floats(0, 0.5))


@given(st.data(), tolerance)
def test_whatever_values_admit_statistics_admit(data: st.DataObject, admitted: Tolerance) -> None:
    expected: Any = data.draw(hnp.arrays(np.float64, st.integers(1, 20), elements=numbers))
    noise = data.draw(hnp.arrays(np.float64, expected.shape, elements=st.floats(-1, 1)))
    # Just inside, so that float64's own rounding cannot push an element out.
    limit = admitted.atol + admitted.scaled * np.abs(expected).max() + admitted.rtol * np.abs(expected)
    found = expected + noise * limit * 0.999
    if measure(expected, found, "Float64", admitted).within:
        relaxed = Tolerance(admitted.rtol * (1 + 1e-9), admitted.atol * (1 + 1e-9) + 1e-9, admitted.scaled)
        assert statistics_within(describe(expected, "Float64"), describe(found, "Float64"), relaxed)


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ([100.0, 5.0], [0.0, 0.0]),
        ([0.0, 0.0], [100.0, 5.0]),
        ([1.0, -1.0], [1.0, -50.0]),
        ([1.0, 0.0], [0.6, 0.0]),
        ([1.0, 1.0], [np.nan, 1.0]),
        ([np.inf, 1.0], [-np.inf, 1.0]),
        ([np.inf, 1.0], [1.0, 1.0]),
        ([1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]),
    ],
)
def test_what_other_tools_let_pass(expected: list[float], found: list[float]) -> None:
    one, other = (describe(np.array(values), "Float64") for values in (expected, found))
    assert not statistics_within(one, other, Tolerance(rtol=0.1, scaled=0.05))
    assert changed_statistics(one, other)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_hides_all_others_is_never_within(value: float) -> None:
    one, other = (describe(np.array([value, v]), "Float64") for v in (1.0, 500.0))
    assert changed_statistics(one, one) == ""
    assert not statistics_within(one, other, Tolerance(rtol=0.5))
    assert not statistics_within(one, one, Tolerance(rtol=0.5))


def test_equal_statistics_have_no_changes() -> None:
    one = describe(np.array([2.0, 1.0]), "Float64")
    assert changed_statistics(one, one) == ""
    assert statistics_within(one, one, Tolerance())
