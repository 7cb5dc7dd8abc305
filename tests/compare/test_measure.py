"""Measures: against the definition, element by element, in exact arithmetic."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness import dtypes
from harness.compare import DEFAULTS, EXACT, Tolerance, measure
from harness.compare.admission import surely_within
from harness.compare.bulk import BLOCK

REAL = ["Float16", "BFloat16", "Float32", "Float64"]
WHOLE = ["Bool", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"]


def pair_of(dtype: str, data: st.DataObject) -> tuple[Any, Any]:
    """Two arrays of equal shape, of any bits, with many elements in common."""
    kind = dtypes.by_name(dtype)
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=3, max_side=4))
    raw = hnp.arrays(np.uint8, (*shape, kind.itemsize))
    one = data.draw(raw)
    other = np.where(data.draw(hnp.arrays(np.bool_, (*shape, 1))), one, data.draw(raw))
    if kind.kind == "b":
        one, other = one % 2, other % 2
    return tuple(np.ascontiguousarray(r).view(kind.numpy).reshape(shape) for r in (one, other))  # type: ignore[return-value]


@pytest.mark.parametrize("dtype", REAL)
@given(data=st.data(), rtol=st.sampled_from([0.0, 1e-3, 0.5]), atol=st.sampled_from([0.0, 1e-3]))
def test_floats_follow_the_definition(dtype: str, data: st.DataObject, rtol: float, atol: float) -> None:
    expected, found = pair_of(dtype, data)
    m = measure(expected, found, dtype, Tolerance(rtol=rtol, atol=atol))
    es, fs = ([float(v) for v in a.reshape(-1)] for a in (expected, found))
    words = [a.reshape(-1).view(f"u{a.itemsize}").tolist() for a in (expected, found)]
    outside, errors, nonfinite = 0, [0.0], 0
    for e, f, one, other in zip(es, fs, *words, strict=True):
        if one == other:
            continue
        if math.isfinite(e) and math.isfinite(f):
            error = Fraction(f) - Fraction(e)
            errors.append(abs(f - e))
            # Half-way cases are up to float64's rounding of the limit, which the definition leaves open.
            limit = Fraction(atol) + Fraction(rtol) * abs(Fraction(e))
            assume(abs(abs(error) - limit) > limit / 10**9 or not limit)
            outside += abs(error) > limit
        elif not ((math.isnan(e) and math.isnan(f)) or e == f):
            outside += 1
            nonfinite += 1
    assert (m.count, m.outside, m.nonfinite) == (len(es), outside, nonfinite)
    assert m.unequal == sum(a != b for a, b in zip(*words, strict=True))
    assert m.max_abs == max(errors)
    assert m.is_within == (outside == 0)
    assert (m.expected_nan, m.found_nan) == (sum(map(math.isnan, es)), sum(map(math.isnan, fs)))
    assert (m.expected_inf, m.found_inf) == (sum(map(math.isinf, es)), sum(map(math.isinf, fs)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", WHOLE)
@given(data=st.data())
def test_integers_are_exact(dtype: str, data: st.DataObject) -> None:
    expected, found = pair_of(dtype, data)
    m = measure(expected, found, dtype, Tolerance(rtol=1.0, atol=1e30))
    es, fs = expected.reshape(-1).tolist(), found.reshape(-1).tolist()
    errors = [abs(int(f) - int(e)) for e, f in zip(es, fs, strict=True)]
    assert m.unequal == m.outside == sum(map(bool, errors))
    assert m.max_abs == max(errors)
    assert type(m.max_abs) is int
    assert m.max_ulp is None
    if m.worst is not None:
        assert errors[np.ravel_multi_index(m.worst.index, expected.shape) if expected.shape else 0] == max(errors)


@pytest.mark.parametrize("dtype", ["Complex64", "Complex128"])
@given(data=st.data())
def test_complex_numbers(dtype: str, data: st.DataObject) -> None:
    expected, found = pair_of(dtype, data)
    m = measure(expected, found, dtype, Tolerance(rtol=0.1))
    nonfinite, outside = 0, 0
    for e, f in zip(expected.reshape(-1).tolist(), found.reshape(-1).tolist(), strict=True):
        parts = [(e.real, f.real), (e.imag, f.imag)]
        if all(map(math.isfinite, (e.real, e.imag, f.real, f.imag))):
            error, limit = np.abs(f - e), 0.1 * np.abs(e)
            assume(not math.isclose(error, limit, rel_tol=1e-9) or error == limit == 0)
            outside += bool(error > limit)
        elif not all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in parts):
            nonfinite += 1
    assert (m.nonfinite, m.outside) == (nonfinite, nonfinite + outside)


def test_worst_element_and_places() -> None:
    expected = np.array([[1.0, 100.0], [0.0, 1e-3]], np.float32)
    found = np.array([[1.5, 103.0], [1e-6, 2e-3]], np.float32)
    m = measure(expected, found, "Float32", Tolerance(rtol=0.2))
    assert (m.at_abs, m.at_rel) == ((0, 1), (1, 0))
    assert m.max_rel == math.inf  # against an expected 0
    assert m.outside == 3
    assert m.worst is not None
    assert m.worst.index == (1, 0)  # furthest outside, not the largest error
    assert (m.worst.expected, m.worst.found) == (0.0, float(np.float32(1e-6)))


def test_a_nan_is_worse_than_any_number() -> None:
    m = measure(np.array([1.0, 2.0, 3.0]), np.array([9.0, np.nan, 9.0]), "Float64", Tolerance(rtol=0.1))
    assert m.worst is not None
    assert m.worst.index == (1,)
    assert (m.nonfinite, m.outside, m.max_abs, m.at_abs) == (1, 3, 8.0, (0,))


def test_kinds_of_nan_and_zero_matter_to_exact_only() -> None:
    one = np.array([0x7FC00000, 0x80000000], np.uint32).view(np.float32)
    other = np.array([0xFFC00001, 0x00000000], np.uint32).view(np.float32)
    assert measure(one, other, "Float32", EXACT).outside == 2
    m = measure(one, other, "Float32", Tolerance())
    assert (m.unequal, m.outside, m.max_ulp) == (2, 0, 0)


def test_scaled_is_relative_to_the_largest_finite_element() -> None:
    expected = np.array([1000.0, 900.0, 1e-3, np.inf, np.nan], np.float32)
    found = np.array([1000.0, 900.0, 2e-3, np.inf, np.nan], np.float32)
    assert measure(expected, found, "Float32", Tolerance(scaled=1e-5)).is_within
    assert not measure(expected, found, "Float32", Tolerance(scaled=1e-7)).is_within
    assert not measure(expected / 1000, found / 1000, "Float32", Tolerance(atol=1e-9)).is_within
    assert measure(expected / 1000, found / 1000, "Float32", Tolerance(scaled=1e-5)).is_within


def test_scaled_is_at_most_a_tenth_of_most_elements() -> None:
    expected = np.array([1000.0, 1e-3, 1e-3, 1e-3], np.float32)
    found = np.array([1000.0, 2e-3, 1e-3, 1e-3], np.float32)
    assert measure(expected, found, "Float32", Tolerance(scaled=1e-5)).outside == 1
    near = np.array([1000.0, 1.09e-3, 1e-3, 1e-3], np.float32)
    assert measure(expected, near, "Float32", Tolerance(scaled=1e-2)).is_within
    assert measure(expected, near, "Float32", Tolerance(scaled=1e-5)).outside == 1


@pytest.mark.parametrize("dtype", ["Float32", "Float64"])
@pytest.mark.parametrize("count", [2, 3, 5, 40, 1000])
def test_one_huge_element_counts_for_no_other(dtype: str, count: int) -> None:
    kind, tolerance = dtypes.by_name(dtype).numpy.type, DEFAULTS[dtype]
    random = np.random.default_rng(count)
    expected = (random.choice([-1, 1], count) * random.uniform(0.5, 2, count)).astype(kind)
    for huge in (1e4, 1e6, 1e8, 1e30):
        expected[0] = huge
        found = expected.copy()
        found[0] = np.nextafter(found[0], kind(0))  # no mask: both sides have its bits
        found[1:] *= kind(1 + 100 * tolerance.rtol)
        assert measure(expected, found, dtype, tolerance).outside == count - 1
        assert not surely_within(expected, found, tolerance)


def test_rows_of_very_different_size_cancel_at_the_size_of_the_large_ones() -> None:
    """A classifier's gradient: few classes were met, the others have tiny probabilities."""
    random = np.random.default_rng(7)
    for met in (20, 50, 200):
        hidden, size = random.standard_normal((8, 16)), np.full((8, 1000), 1e-4)
        size[np.arange(8), random.integers(0, met, 8)] = -1.0
        exact = size.T @ hidden
        wrong = exact + 6e-8 * (np.abs(size.T) @ np.abs(hidden)) * random.choice([-1, 1], exact.shape)
        pair = exact.astype(np.float32), wrong.astype(np.float32)
        assert measure(*pair, "Float32", DEFAULTS["Float32"]).is_within


def test_a_signalling_nan_is_measured_like_any_other() -> None:
    one = np.array([0x7F81], np.uint16).view(dtypes.by_name("BFloat16").numpy)
    m = measure(one, np.zeros_like(one), "BFloat16", Tolerance(scaled=1e-5))
    assert (m.outside, m.expected_nan, m.bulk) == (1, 1, 0.0)


def test_max_ulp_admits_neighbours() -> None:
    one = np.array([1.0, 1e-40, 0.0], np.float32)
    other = np.nextafter(np.nextafter(one, np.float32(9)), np.float32(9))
    assert measure(one, other, "Float32", Tolerance(max_ulp=2)).is_within
    assert measure(one, other, "Float32", Tolerance(max_ulp=1)).outside == 3


def test_overflowing_differences_are_infinite_errors() -> None:
    top = np.array([np.finfo(np.float64).max])
    m = measure(top, -top, "Float64", Tolerance(rtol=0.5))
    assert (m.max_abs, m.outside, m.nonfinite) == (math.inf, 1, 0)


@pytest.mark.parametrize("at", [0, BLOCK - 1, BLOCK, 2 * BLOCK + 5])
@pytest.mark.parametrize("dtype", ["Float32", "Int32", "BFloat16"])
def test_block_borders(at: int, dtype: str) -> None:
    expected = np.zeros((2 * BLOCK + 6,), dtypes.by_name(dtype).numpy)
    found = expected.copy()
    found[at] = 1
    m = measure(expected, found, dtype)
    assert (m.unequal, m.outside, m.max_abs) == (1, 1, 1)
    assert m.worst is not None
    assert m.worst.index == m.at_abs == (at,)


@pytest.mark.long
def test_memory_does_not_grow_with_the_array() -> None:
    expected = np.ones(2**22, np.float32)
    found = expected * np.float32(1.5)
    tracemalloc.start()
    measure(expected, found, "Float32", Tolerance(rtol=0.1, scaled=0.1))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * 2**20


def test_unlike_arrays_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot measure"):
        measure(np.zeros(3), np.zeros(4), "Float64")
    with pytest.raises(ValueError, match="cannot measure"):
        measure(np.zeros(3), np.zeros(3, np.float32), "Float64")
