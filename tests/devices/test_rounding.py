"""Rounding of float32 to what matrix units take, held against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.devices import rounding
from harness.devices.rounding import ROUNDINGS, bfloat16, convert, float16, hf32, tf32, tf32_cut, toward_zero
from harness.errors import DtypeError, UnknownNameError

FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False)
#: name -> explicit mantissa bits
KEPT = {"hf32": 11, "tf32": 10, "tf32-cut": 10, "bfloat16": 7}


def patterns(count: int) -> np.ndarray[Any, Any]:
    """Random float32 of every exponent, with the ends of the range among them."""
    bits = np.random.default_rng(7).integers(0, 1 << 32, count, dtype=np.uint32)
    ends = np.array([0, 0x80000000, 1, 0x7F7FFFFF, 0xFF7FFFFF, 0x00800000, 0x007FFFFF], np.uint32)
    return np.concatenate([bits, ends]).view(np.float32)


def one(x: float) -> np.ndarray[Any, Any]:
    return np.array([x], np.float32)


def test_bfloat16_equals_ml_dtypes_on_a_million_patterns() -> None:
    x = patterns(1_100_000)
    x = x[np.isfinite(x)]
    assert x.size >= 1_000_000
    with np.errstate(over="ignore"):
        expected = x.astype(ml_dtypes.bfloat16).astype(np.float32)
    assert np.array_equal(bfloat16(x).view(np.uint32), expected.view(np.uint32))
    assert np.array_equal(convert(x, ml_dtypes.bfloat16).astype(np.float32).view(np.uint32), expected.view(np.uint32))


def test_tf32_is_half_added_and_the_rest_cut_off() -> None:
    x = patterns(100_000)
    x = x[np.isfinite(x)]
    expected = (x.view(np.uint32) + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
    assert np.array_equal(tf32(x).view(np.uint32), expected)


def test_ties_of_tf32() -> None:
    tie = one(1 + 2**-11)
    assert tf32(tie)[0] == np.float32(1.0009765625)
    assert tf32_cut(tie)[0] == np.float32(1.0)
    assert tf32(-tie)[0] == np.float32(-1.0009765625)


def test_ties_of_hf32_go_to_even() -> None:
    assert hf32(one(1 + 2**-12))[0] == 1
    assert hf32(one(1 + 3 * 2**-12))[0] == 1 + 2**-10


@given(FINITE, st.sampled_from(sorted(KEPT)))
def test_the_nearest_of_the_two_neighbours(value: float, name: str) -> None:
    """Neighbours by cutting off and by the next step away from zero; the nearer one, ties as the rounding says."""
    kept = KEPT[name]
    low = toward_zero(one(value), kept)
    step = np.uint32(1 << 23 - kept)
    high = (low.view(np.uint32) + step).view(np.float32)
    got = ROUNDINGS[name].apply(one(value))
    if name == "tf32-cut":
        expected = low
    else:
        # past the largest value the next step is Inf, as far away as if the exponent went on
        top = Fraction(2) ** 128 if np.isinf(high[0]) else abs(Fraction(float(high[0])))
        below, above = abs(Fraction(value)) - abs(Fraction(float(low[0]))), top - abs(Fraction(value))
        even = not (int(low.view(np.uint32)[0]) // int(step)) & 1
        up = above < below or (above == below and (name == "tf32" or not even))
        expected = high if up and below else low
    assert got.view(np.uint32)[0] == expected.view(np.uint32)[0]


@pytest.mark.parametrize("name", sorted(ROUNDINGS))
def test_special_values_are_kept(name: str) -> None:
    nan = np.array([0x7F800001, 0xFFC00001, 0x7FC00000], np.uint32).view(np.float32)
    assert np.isnan(ROUNDINGS[name].apply(nan)).all()
    ends = np.array([np.inf, -np.inf, 0.0, -0.0], np.float32)
    out = ROUNDINGS[name].apply(ends)
    assert np.array_equal(out.view(np.uint32), ends.view(np.uint32))


@pytest.mark.parametrize("name", sorted(ROUNDINGS))
def test_largest_is_a_fixed_point_and_nothing_finite_is_above(name: str) -> None:
    how = ROUNDINGS[name]
    assert how.apply(one(how.largest))[0] == how.largest
    out = how.apply(patterns(100_000))
    assert np.max(out[np.isfinite(out)]) <= how.largest


@pytest.mark.parametrize("name", sorted(ROUNDINGS))
def test_rounding_twice_changes_nothing_and_keeps_the_shape(name: str) -> None:
    x = patterns(1001)[:1000].reshape(2, 10, 50)
    once = ROUNDINGS[name].apply(x.transpose(2, 0, 1))
    assert once.shape == (50, 2, 10)
    assert np.array_equal(ROUNDINGS[name].apply(once).view(np.uint32), np.ascontiguousarray(once).view(np.uint32))
    assert ROUNDINGS[name].apply(np.float32(1.5).reshape(())).shape == ()


def test_float16_rounds_to_its_values() -> None:
    x = patterns(100_000)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = x.astype(np.float16).astype(np.float32)
    assert np.array_equal(float16(x).view(np.uint32), expected.view(np.uint32))


@pytest.mark.parametrize(
    ("x", "infnan", "saturation"),
    [
        (65504.0, 65504.0, 65504.0),
        (65519.996, 65504.0, 65504.0),
        (65520.0, np.inf, 65504.0),
        (-1e30, -np.inf, -65504.0),
        (np.inf, np.inf, 65504.0),
        (np.nan, np.nan, 0.0),
        (2.0**-25, 0.0, 0.0),
        (1.01 * 2.0**-25, 2.0**-24, 2.0**-24),
    ],
)
def test_conversion_to_float16(x: float, infnan: float, saturation: float) -> None:
    assert np.array_equal(convert(one(x), np.float16), np.array([infnan], np.float16), equal_nan=True)
    assert np.array_equal(convert(one(x), np.float16, saturating=True), np.array([saturation], np.float16))


def test_conversion_goes_to_floating_dtypes_only() -> None:
    with pytest.raises(DtypeError, match="a floating dtype was asked for, got int8"):
        convert(one(1), np.int8)


def test_rounding_takes_float32_only() -> None:
    with pytest.raises(DtypeError, match="takes float32, got float64"):
        hf32(np.zeros(2))


def test_an_unknown_rounding() -> None:
    with pytest.raises(UnknownNameError, match="no rounding is called 'fp8'; known are float32"):
        rounding.rounding("fp8")


@pytest.mark.parametrize(
    ("name", "error"),
    [("hf32", 1.5e-4), ("tf32", 3.1e-4), ("tf32-cut", 8.7e-4), ("float16", 3.1e-4), ("bfloat16", 2.2e-3)],
)
def test_errors_of_products_have_the_size_that_was_measured(name: str, error: float) -> None:
    """Largest error over largest result, of normal numbers, (64, 1024) by (1024, 64); the draw moves it by a fifth."""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((64, 1024), (1024, 64)))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    rounded = ROUNDINGS[name].apply(a).astype(np.float64) @ ROUNDINGS[name].apply(b).astype(np.float64)
    found = np.abs(rounded - exact).max() / np.abs(exact).max()
    assert error / 1.3 < found < error * 1.3
