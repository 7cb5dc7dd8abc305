"""Arithmetic with the same bits everywhere: one rounding, fixed sums, integers that wrap."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness import Tensor, dtypes, ops
from harness.dtypes import DType
from harness.framework.ops import numerics
from harness.framework.ops.rounding import finish_into

Array = np.ndarray[Any, np.dtype[Any]]
#: mantissa bits with the leading one, and the exponents of the smallest and the largest normal number
FORMATS = {
    dtypes.float16: (11, -14, 15), dtypes.bfloat16: (8, -126, 127), dtypes.float32: (24, -126, 127),
    dtypes.float64: (53, -1022, 1023),
}  # fmt: skip
FLOATS = list(FORMATS)


def nearest(exact: Fraction, dtype: DType) -> float:
    """``exact`` rounded to ``dtype``, ties to even, by integer arithmetic alone."""
    bits, smallest, largest = FORMATS[dtype]
    if exact == 0:
        return 0.0
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, smallest) - bits + 1)
    rounded = round(size / unit) * unit  # Python rounds halves of fractions to even
    if rounded >= Fraction(2) ** (largest + 1):
        return float("inf") if exact > 0 else float("-inf")
    return float(rounded) if exact > 0 else -float(rounded)


def exact(value: Any) -> Fraction:
    """A floating number of any width as a fraction."""
    return Fraction(*value.as_integer_ratio())


def as_float(array: Array) -> float:
    return float(array.astype(np.float64))


def halfway(dtype: DType, at: int, nudge: int) -> np.longdouble:
    """A number just beside the middle of two neighbours of ``dtype`` near 1: too near for a float32 or float64 to
    tell it from the middle."""
    bits = FORMATS[dtype][0]
    middle = np.longdouble(1) + np.ldexp(np.longdouble(2 * at + 1), -bits)
    return middle + np.ldexp(np.longdouble(nudge), -62)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_float64_is_rounded_once(dtype: DType, value: float) -> None:
    got = as_float(numerics.finish(np.array(value), dtype))
    assert got == nearest(Fraction(value), dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@given(high=st.floats(-(2.0**20), 2.0**20), low=st.integers(-(2**10), 2**10))
@example(high=5e-324, low=1 << 9)  # between float64's smallest numbers
@example(high=2.2250738585072014e-308, low=-1023)
def test_long_double_is_rounded_once(dtype: DType, high: float, low: int) -> None:
    value = np.longdouble(high) + np.ldexp(np.longdouble(low), -52) * np.longdouble(high)
    assert as_float(numerics.finish(np.array(value), dtype)) == nearest(exact(value), dtype)


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="long double is no wider than float64 here")
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("nudge", [-1, 0, 1])
def test_the_middle_of_two_neighbours(dtype: DType, nudge: int) -> None:
    if dtype is dtypes.float64 and nudge:
        nudge *= 2  # long double has 11 bits more
    for at in range(4):
        value = halfway(dtype, at, nudge)
        assert as_float(numerics.finish(np.array(value), dtype)) == nearest(exact(value), dtype), (at, nudge)


def test_two_roundings_would_show() -> None:
    """Values found by search on which rounding through float32 gives another bfloat16 or float16."""
    random = np.random.Generator(np.random.PCG64(1))
    for dtype in (dtypes.bfloat16, dtypes.float16):
        bits = FORMATS[dtype][0]
        middles = 1 + (2 * random.integers(0, 2 ** (bits - 1), 2000) + 1) * 2.0**-bits
        values = middles * (1 + random.choice([-1, 1], 2000) * 2.0**-40)
        once = numerics.finish(values, dtype)
        twice = values.astype(np.float32).astype(dtype.numpy)
        assert (once != twice).sum() > 500
        assert [as_float(v) for v in once] == [nearest(Fraction(v), dtype) for v in values]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_special_values_are_kept(dtype: DType) -> None:
    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -5e-324])
    got = numerics.finish(values, dtype).astype(np.float64)
    assert np.isnan(got[0])
    assert got[1:3].tolist() == [np.inf, -np.inf]
    assert np.signbit(got[3:]).tolist() == [False, True, False, True]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_the_largest_number_and_what_lies_above(dtype: DType) -> None:
    bits, _, largest = FORMATS[dtype]
    top = (Fraction(2) - Fraction(2) ** (1 - bits)) * Fraction(2) ** largest
    step = Fraction(2) ** (largest - bits)
    for value, expected in ((top, float(top)), (top + step * Fraction(3, 4), float(top)), (top + step, float("inf"))):
        if value <= Fraction(np.finfo(np.float64).max):
            assert as_float(numerics.finish(np.array(float(value)), dtype)) == expected


def test_results_are_contiguous_and_of_the_dtype() -> None:
    strided = np.arange(12.0).reshape(3, 4).T
    for dtype in (*FLOATS, dtypes.int32, dtypes.bool_):
        got = numerics.finish(strided, dtype)
        assert got.flags.c_contiguous
        assert got.dtype == dtype.numpy
        assert got.shape == (4, 3)


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-(2.0**62), max_value=2.0**62))
def test_floats_become_integers_toward_zero(value: float) -> None:
    for dtype in (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint32):
        bits = 8 * dtype.itemsize
        whole = int(value) % 2**bits
        expected = whole - 2**bits if dtype.kind == "i" and whole >= 2 ** (bits - 1) else whole
        assert int(numerics.finish(np.array(value), dtype)) == expected


@given(st.integers(2**53, 2**64 - 1))
def test_large_floats_become_uint64(value: int) -> None:
    near = float(value)
    if near < 2.0**64:
        assert int(numerics.finish(np.array(near), dtypes.uint64)) == int(near)


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16, dtypes.float32], ids=str)
@given(value=st.integers(-(2**63), 2**63 - 1) | st.integers(-70000, 70000))
def test_integers_are_rounded_once(dtype: DType, value: int) -> None:
    assert as_float(numerics.finish(np.array(value), dtype)) == nearest(Fraction(value), dtype)


INTEGERS = [d for d in dtypes.ALL if d.kind in "iu"]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@given(data=st.data())
def test_integers_wrap_around(dtype: DType, data: st.DataObject) -> None:
    limits = np.iinfo(dtype.numpy)
    drawn = st.integers(int(limits.min), int(limits.max))
    a, b = data.draw(drawn), data.draw(drawn)
    x, y = (Tensor(np.array([v], dtype.numpy)) for v in (a, b))
    less = ((x - y, a - b),) if dtype.name not in ("UInt32", "UInt64") else ()  # the CPU has no such kernel
    for got, expected in ((x + y, a + b), *less, (x * y, a * b)):
        wrapped = expected % 2 ** (8 * dtype.itemsize)
        if dtype.kind == "i" and wrapped > limits.max:
            wrapped -= 2 ** (8 * dtype.itemsize)
        assert got.dtype is dtype
        assert int(got.asnumpy()[0]) == wrapped


SMALL = st.integers(-(2**20), 2**20).map(float)


@given(hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, max_side=9), elements=SMALL))
def test_sums_of_exact_values_are_exact(x: Array) -> None:
    expected = sum((Fraction(v) for v in x.ravel()), Fraction(0))
    assert Fraction(float(numerics.total(x))) == expected
    for axis in range(x.ndim):
        got = numerics.total(x, axis)
        np.testing.assert_array_equal(got, x.sum(axis))
        np.testing.assert_array_equal(numerics.total(x, axis, keepdims=True), x.sum(axis, keepdims=True))


@given(hnp.arrays(np.float64, st.integers(0, 300), elements=st.floats(-1e3, 1e3)))
@example(np.array([1e16, 1.0, -1e16, 1.0]))
def test_sums_are_near_the_exact_one(x: Array) -> None:
    expected = sum((Fraction(v) for v in x), Fraction(0))
    size = sum((abs(Fraction(v)) for v in x), Fraction(0))
    depth = max(1, len(x)).bit_length() + 1
    assert abs(Fraction(float(numerics.total(x))) - expected) <= depth * Fraction(2) ** -52 * size


@given(st.integers(1, 200), st.integers(0, 2**32))
def test_a_sum_does_not_depend_on_the_layout(count: int, seed: int) -> None:
    x = np.random.Generator(np.random.PCG64(seed)).standard_normal((count, 3))
    expected = numerics.total(x, 0)
    for other in (np.asfortranarray(x), np.repeat(x, 2, 1)[:, ::2], x[::-1][::-1]):
        assert numerics.total(other, 0).tobytes() == expected.tobytes()
    assert numerics.total(x.T, 1).tobytes() == expected.tobytes()
    assert numerics.total(np.ascontiguousarray(x[:, 1])).tobytes() == expected[1].tobytes()


def test_empty_sums_are_zero() -> None:
    assert numerics.total(np.zeros((0, 3)), 0).tolist() == [0, 0, 0]
    assert float(numerics.total(np.zeros((3, 0)))) == 0
    assert numerics.total(np.zeros((3, 0)), 0).shape == (0,)
    assert float(numerics.total(np.array(2.5))) == 2.5


@given(
    st.tuples(st.integers(0, 5), st.integers(0, 7), st.integers(0, 5)),
    st.sampled_from([((), ()), ((2,), ()), ((), (2,)), ((2, 1), (3,)), ((1,), (0,))]),
    st.integers(0, 2**32),
)
def test_products_of_matrices_are_exact_where_they_can_be(
    sizes: tuple[int, int, int], lead: tuple[tuple[int, ...], tuple[int, ...]], seed: int
) -> None:
    m, k, n = sizes
    random = np.random.Generator(np.random.PCG64(seed))
    a = random.integers(-1000, 1000, (*lead[0], m, k)).astype(np.float64)
    b = random.integers(-1000, 1000, (*lead[1], k, n)).astype(np.float64)
    got = numerics.matmul(a, b)
    expected = np.matmul(a.astype(np.int64), b.astype(np.int64))
    assert got.shape == expected.shape
    np.testing.assert_array_equal(got, expected)


def test_products_in_blocks_are_those_of_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.Generator(np.random.PCG64(3))
    a, b = random.standard_normal((7, 19)), random.standard_normal((19, 5))
    whole = numerics.matmul(a, b)
    monkeypatch.setattr(numerics, "_BLOCK", 100)
    assert numerics.matmul(a, b).tobytes() == whole.tobytes()


def test_products_of_integers_are_of_their_dtype() -> None:
    a = np.array([[100, 100]], np.int8)
    got = numerics.matmul(a, a.T)
    assert got.dtype == np.int8
    assert got.tolist() == np.array([[20000]]).astype(np.int8).tolist()


@given(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1).filter(bool))
def test_integer_division_is_toward_zero(x: int, y: int) -> None:
    got = numerics.divide_toward_zero(np.array(x, np.int64), np.array(y, np.int64))
    assert int(got) == (abs(x) // abs(y)) * (1 if (x < 0) == (y < 0) else -1)


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [(1.0, 0.0, np.inf), (1.0, -0.0, np.inf), (-1.0, 0.0, -np.inf), (0.0, 0.0, np.nan), (3.0, 2.0, 1.5)],
)
def test_division_by_zero_is_the_cpus(x: float, y: float, expected: float) -> None:
    with np.errstate(all="ignore"):
        np.testing.assert_equal(float(numerics.divide(np.array(x), np.array(y))), expected)


def test_wide_is_exact() -> None:
    for dtype in (np.float16, ml_dtypes.bfloat16, np.float32, np.int32, np.uint8, np.bool_):
        values = np.array([0, 1], dtype)
        assert numerics.wide(values).dtype == np.float64
        assert numerics.wide(values).tolist() == [0.0, 1.0]
    assert numerics.wide(np.array([1j], np.complex64)).dtype == np.complex128


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "tanh", "sin", "cos", "erf", "sigmoid", "rsqrt"])
def test_float32_results_of_functions_are_the_nearest(name: str) -> None:
    """Against the same function of the widest type over exact inputs: at most the middle of two may differ."""
    x = (np.arange(1, 400, dtype=np.float32) / 64).astype(np.float32)
    got = getattr(ops, name)(Tensor(x)).asnumpy()
    precise = getattr(ops, name)(Tensor(x.astype(np.float64))).asnumpy()
    assert [float(g) for g in got] == [nearest(Fraction(float(p)), dtypes.float32) for p in precise]


def test_casts_to_int8_are_the_cpus() -> None:
    """Measured on MindSpore 2.10.0: cut toward zero, then wrapped around; what is not a number is 0."""
    cast: Any = ops.cast
    x = Tensor([127.6, 200, -129, 3.9, -3.9, np.nan, np.inf], dtypes.float32)
    assert cast(x, dtypes.int8).asnumpy().tolist() == [127, -56, 127, 3, -3, 0, 0]


def test_a_half_that_is_doubled_out_of_range_is_infinite() -> None:
    mul: Any = ops.mul
    assert mul(Tensor([60000.0], dtypes.float16), 2).asnumpy().tolist() == [np.inf]


@given(
    given_=st.sampled_from([np.float32, np.float64, np.longdouble]),
    dtype=st.sampled_from([*FLOATS, dtypes.int32, dtypes.uint8]),
    bits=hnp.arrays(np.int64, st.integers(0, 6), elements=st.integers(-(2**63), 2**63 - 1)),
)
def test_what_is_rounded_in_place_has_the_same_bits(given_: type, dtype: DType, bits: Array) -> None:
    with np.errstate(all="ignore"):
        values = bits.view(np.float64).astype(given_)
    target = np.zeros(values.shape, dtype.numpy)
    finish_into(target, values)
    assert target.tobytes() == numerics.finish(values, dtype).tobytes()
