"""How loose a gate is: changes pass or fail exactly as the audit says."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.compare import DEFAULTS, Tolerance, Tolerances, measure
from harness.compare.audit import FAULTS, Looseness, audit
from tests.store.helpers import record

RNG = np.random.default_rng(5)
BASE = RNG.standard_normal((20, 30)).astype(np.float32)


def looseness(array: Any, tolerance: Any) -> Looseness:
    (found,) = audit([record(array)], Tolerances.parse(tolerance))
    return found


def test_exact_lets_nothing_pass() -> None:
    assert looseness(BASE, "exact").noise == 0
    assert looseness(BASE, "exact").faults == ()


@given(rtol=st.floats(1e-6, 0.5))
def test_a_relative_tolerance_lets_that_much_pass(rtol: float) -> None:
    assert looseness(BASE, Tolerance(rtol=rtol)).noise == pytest.approx(rtol, rel=0.12)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_the_documented_table_lets_no_fault_pass(dtype: Any) -> None:
    found = looseness(BASE.astype(dtype), "default")
    assert found.faults == ()
    assert 0 < found.noise < 0.05


def test_a_fixed_absolute_tolerance_lets_a_small_gradient_vanish() -> None:
    found = looseness((BASE * 1e-7).astype(np.float32), Tolerance(atol=1e-5))
    assert set(found.faults) == set(FAULTS)
    assert found.noise > 10


def test_zeros_beside_an_absolute_tolerance() -> None:
    found = looseness(np.zeros(4, np.float32), Tolerance(atol=1e-5))
    assert found.noise == math.inf
    assert found.faults == ()  # zeros have no other sign, size or order


@pytest.mark.parametrize("array", [np.arange(5), np.array([True, False]), np.zeros((0, 3), np.float32)])
def test_integers_bools_and_empty_arrays_let_nothing_pass(array: Any) -> None:
    found = looseness(array, Tolerance(rtol=1))
    assert (found.noise, found.faults) == (0.0, ())


def test_nan_and_infinity_stay_what_they_are() -> None:
    array = BASE.copy()
    array[0, :3] = np.nan, np.inf, -np.inf
    found = looseness(array, "default")
    assert 0 < found.noise < 1e-4
    assert found.faults == ()


def test_what_is_said_to_pass_passes() -> None:
    tolerance = DEFAULTS["Float32"]
    admitted = looseness(BASE, tolerance).noise
    # Of the size that passes, but relative to each element: where scaled admits most, less is admitted than that.
    change = BASE * np.float32(min(admitted, tolerance.rtol) * 0.9)
    assert measure(BASE, BASE + change, "Float32", tolerance).is_within
    assert not measure(BASE, BASE + change * 3, "Float32", tolerance).is_within
