"""Sums of products are the exact ones rounded once, whatever BLAS did the work."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.dtypes import DType
from harness.framework.ops import convolve, exact, numerics, products, window
from tests.framework.ops.test_numerics import FLOATS, nearest

Array = np.ndarray[Any, np.dtype[Any]]
GIVEN = {dtypes.float16: np.float16, dtypes.bfloat16: ml_dtypes.bfloat16, dtypes.float32: np.float32}


def fractions(x: Array) -> list[list[Fraction]]:
    return [[Fraction(float(v)) for v in row] for row in x]


def as_bits(x: Array) -> Array:
    return np.ascontiguousarray(x).view(f"u{x.itemsize}")


def expected(a: Array, b: Array, dtype: DType) -> Array:
    """``a @ b`` in rational arithmetic, each sum rounded once by integers; -0 where each product is -0."""
    left, right = fractions(a), fractions(b.T)
    out = np.empty((len(left), len(right)), np.float64)
    for i, row in enumerate(left):
        for j, column in enumerate(right):
            whole = sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0))
            out[i, j] = nearest(whole, dtype)
            if out[i, j] == 0:
                minus = [np.signbit(p) != np.signbit(q) for p, q in zip(a[i], b[:, j], strict=True)]
                is_minus = whole < 0 or (
                    not any(x * y for x, y in zip(row, column, strict=True)) and minus and all(minus)
                )
                out[i, j] = -0.0 if is_minus else 0.0
    return out.astype(dtype.numpy)


def spread(random: np.random.Generator, shape: tuple[int, int], powers: int) -> Array:
    """Numbers of both signs whose exponents lie ``powers`` apart, some of them 0."""
    x = random.standard_normal(shape) * 2.0 ** random.integers(-powers, powers + 1, shape)
    return np.where(random.random(shape) < 0.1, np.copysign(0.0, x), x)


def cancelled(random: np.random.Generator, m: int, k: int, n: int) -> tuple[Array, Array]:
    """Factors whose products cancel to all but the last."""
    a, b = random.standard_normal((m, k)), random.standard_normal((k, n))
    a, b = np.hstack([a, a, a[:, :1] * 2.0**-40]), np.vstack([b, -b, b[:1]])
    order = random.permutation(2 * k + 1)
    return a[:, order], b[order]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@given(
    sizes=st.tuples(st.integers(0, 5), st.integers(0, 9), st.integers(0, 5)),
    powers=st.sampled_from([0, 3, 12, 40]),
    seed=st.integers(0, 2**32),
)
def test_sums_are_the_exact_ones_rounded_once(
    dtype: DType, sizes: tuple[int, int, int], powers: int, seed: int
) -> None:
    random = np.random.Generator(np.random.PCG64(seed))
    m, k, n = sizes
    given_as = GIVEN.get(dtype, np.float64)
    with np.errstate(all="ignore"):
        a, b = (spread(random, s, powers).astype(given_as) for s in ((m, k), (k, n)))
        a, b = (np.where(np.isfinite(x), x, x.dtype.type(1)) for x in (a, b))
        np.testing.assert_array_equal(as_bits(numerics.matmul(a, b, dtype)), as_bits(expected(a, b, dtype)))


@pytest.mark.parametrize("powers", [300, 500, 1000])
@pytest.mark.parametrize("dtype", [dtypes.float64, dtypes.float32], ids=str)
def test_any_float64_is_admitted(dtype: DType, powers: int) -> None:
    """Products out of range, subnormal numbers, rows that span all there is."""
    random = np.random.Generator(np.random.PCG64(powers))
    for m, k, n in ((3, 4, 5), (2, 1, 3), (1, 30, 2)):
        with np.errstate(all="ignore"):
            a, b = spread(random, (m, k), powers), spread(random, (k, n), powers)
            got = numerics.matmul(a, b, dtype)
        np.testing.assert_array_equal(as_bits(got), as_bits(expected(a, b, dtype)))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_sums_that_cancel(dtype: DType) -> None:
    random = np.random.Generator(np.random.PCG64(5))
    a, b = cancelled(random, 6, 20, 7)
    a, b = (x.astype(GIVEN.get(dtype, np.float64)) for x in (a, b))
    np.testing.assert_array_equal(as_bits(numerics.matmul(a, b, dtype)), as_bits(expected(a, b, dtype)))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_ties_and_small_integers(dtype: DType) -> None:
    """Sums that lie in the middle of two numbers, and sums of 0 by the hundred: no bound settles them."""
    random = np.random.Generator(np.random.PCG64(6))
    bits = {dtypes.float16: 11, dtypes.bfloat16: 8, dtypes.float32: 24, dtypes.float64: 53}[dtype]
    a = random.integers(-2, 3, (24, 16)).astype(np.float64)
    b = random.integers(-2, 3, (16, 24)).astype(np.float64)
    a[:12, 0], b[0], a[:12, 1], b[1] = 1, 2.0 ** (bits // 2), 2.0 ** (bits - bits // 2), 2.0 ** (bits // 2)
    np.testing.assert_array_equal(as_bits(numerics.matmul(a, b, dtype)), as_bits(expected(a, b, dtype)))


def test_each_way_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plain product, slices, and one by one: which is taken shows nowhere."""
    random = np.random.Generator(np.random.PCG64(7))
    a, b = (spread(random, s, 4).astype(np.float32) for s in ((20, 700), (700, 30)))
    seen = set()
    for few, part, depths in ((0, 0.0, (1, 3)), (10**9, 1.0, (1,)), (0, 0.0, (4,)), (0, 0.0, ())):
        for name, value in (("_FEW", few), ("_PART", part), ("_DEPTHS", depths), ("_WIDE_DEPTHS", depths)):
            monkeypatch.setattr(products, name, value)
        for piece in (1, 64, 512):
            monkeypatch.setattr(products, "_PIECE", piece)
            seen.add(tuple(numerics.matmul(a, b, d).tobytes() for d in (dtypes.float32, dtypes.float64)))
    assert len(seen) == 1


@pytest.mark.parametrize("size", [1, 255, 512])
def test_tiles_cover_all(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.Generator(np.random.PCG64(8))
    a, b = random.standard_normal((3, 37, 11)), random.standard_normal((3, 11, 41))
    whole = [numerics.matmul(a, b, d).tobytes() for d in (dtypes.float32, dtypes.float64)]
    monkeypatch.setattr(products, "_CACHED", size)
    assert [numerics.matmul(a, b, d).tobytes() for d in (dtypes.float32, dtypes.float64)] == whole


@given(st.lists(st.tuples(st.floats(-1e60, 1e60), st.floats(-1e60, 1e60)), max_size=12))
def test_one_sum_in_each_way(pairs: list[tuple[float, float]]) -> None:
    x, y = (np.array([p[i] for p in pairs], np.float64) for i in (0, 1))
    whole = sum((Fraction(p) * Fraction(q) for p, q in pairs), Fraction(0))
    near, rest = exact.of_anything(x, y)
    assert Fraction(near) == Fraction(nearest(whole, dtypes.float64))
    assert rest == (whole > Fraction(near)) - (whole < Fraction(near))
    if products.is_safe(x) and products.is_safe(y):
        assert exact.of_products(x, y) == (near, rest)
    with np.errstate(over="ignore"):
        narrow = tuple(v.astype(np.float32).astype(np.float64) for v in (x, y))
    if all(np.isfinite(v).all() for v in narrow):
        assert exact.of_exact_products(*narrow) == exact.of_anything(*narrow)


def test_what_is_no_number_is_added_in_order() -> None:
    random = np.random.Generator(np.random.PCG64(9))
    a, b = (random.standard_normal(s).astype(np.float32) for s in ((6, 9), (9, 7)))
    a[1, 3], a[4, 0], b[2, 5], b[3, 1] = np.nan, np.inf, -np.inf, 0
    with np.errstate(all="ignore"):
        got = numerics.matmul(a, b, dtypes.float32)
        ordered = numerics.in_order(a.astype(np.float64), b.astype(np.float64)).astype(np.float32)
    rows, columns = ~np.isfinite(a).all(1), ~np.isfinite(b).all(0)
    assert as_bits(got)[rows].tolist() == as_bits(ordered)[rows].tolist()
    assert as_bits(got)[:, columns].tolist() == as_bits(ordered)[:, columns].tolist()
    rest = np.ix_(~rows, ~columns)
    assert as_bits(got[rest]).tolist() == as_bits(expected(a[~rows], b[:, ~columns], dtypes.float32)).tolist()


@pytest.mark.parametrize("dtype", [dtypes.complex64, dtypes.complex128], ids=str)
def test_complex_sums(dtype: DType) -> None:
    random = np.random.Generator(np.random.PCG64(10))
    a, b = ((random.standard_normal(s) + 1j * random.standard_normal(s)).astype(dtype.numpy) for s in ((4, 5), (5, 3)))
    got = numerics.matmul(a, b, dtype)
    half = dtypes.float32 if dtype is dtypes.complex64 else dtypes.float64
    real = expected(np.hstack([a.real, -a.imag]), np.vstack([b.real, b.imag]), half)
    imaginary = expected(np.hstack([a.real, a.imag]), np.vstack([b.imag, b.real]), half)
    assert got.dtype == dtype.numpy
    assert (got.real.tolist(), got.imag.tolist()) == (real.tolist(), imaginary.tolist())


def pairs(*most: int) -> st.SearchStrategy[tuple[int, ...]]:
    return st.tuples(*(st.integers(1, n) for n in most))


geometries = st.fixed_dictionaries(
    {
        "groups": st.integers(1, 3),
        "deep": st.integers(1, 2),
        "out": st.integers(1, 2),
        "count": st.integers(1, 2),
        "kernel": pairs(3, 3),
        "stride": pairs(3, 3),
        "dilation": pairs(3, 2),
        "size": pairs(8, 7),
        "pads": st.tuples(*[st.integers(0, 3)] * 4),
        "block": st.sampled_from([1, 40, 10**6]),
        "seed": st.integers(0, 99),
    }
)


@given(geometries)
def test_convolutions_are_sums_of_products(g: dict[str, Any]) -> None:
    """Forward and both gradients, against sums over all windows of integers, which are exact."""
    out_size = window.out_size(g["size"], g["kernel"], g["stride"], g["pads"], g["dilation"])
    if min(out_size) < 1:
        return
    random = np.random.Generator(np.random.PCG64(g["seed"]))
    x, w, dout = (
        random.integers(-9, 10, shape).astype(np.float32)
        for shape in (
            (g["count"], g["groups"] * g["deep"], *g["size"]),
            (g["groups"] * g["out"], g["deep"], *g["kernel"]),
            (g["count"], g["groups"] * g["out"], *out_size),
        )
    )
    padded, steps = window.pad(x, g["pads"]), (g["stride"], g["dilation"])
    view = window.windows(padded.astype(np.float64), g["kernel"], *steps)
    split = view.reshape(g["count"], g["groups"], g["deep"], *view.shape[2:])
    filters = w.reshape(g["groups"], g["out"], *w.shape[1:])
    slope = dout.reshape(g["count"], g["groups"], g["out"], *out_size)
    before = convolve._BLOCK
    convolve._BLOCK = g["block"]
    try:
        y = convolve.correlate(padded, w, g["groups"], steps, dtypes.float32)
        geometry = (g["size"], g["stride"], g["pads"], g["dilation"])
        dx = convolve.spread(dout, w, g["groups"], dtypes.float32, geometry)
        dw = convolve.gather(dout, padded, w.shape, g["groups"], steps, dtypes.float32)
    finally:
        convolve._BLOCK = before
    np.testing.assert_array_equal(y, np.einsum("ngcijyx,gocij->ngoyx", split, filters).reshape(y.shape))
    np.testing.assert_array_equal(dw, np.einsum("ngcijyx,ngoyx->gocij", split, slope).reshape(w.shape))
    parts = np.einsum("gocij,ngoyx->ngcijyx", filters, slope).reshape(view.shape)
    np.testing.assert_array_equal(dx, window.unwindow(parts, g["size"], g["stride"], g["pads"], g["dilation"]))


@pytest.mark.parametrize("bad", ["none", "nan in x", "inf in weight", "float64", "huge float64"])
def test_convolutions_of_anything_are_those_of_matrices(bad: str) -> None:
    random = np.random.Generator(np.random.PCG64(11))
    dtype = dtypes.float64 if "64" in bad else dtypes.float32
    x, w, dout = (random.standard_normal(s).astype(dtype.numpy) for s in ((2, 4, 9, 9), (6, 2, 3, 3), (2, 6, 7, 7)))
    if bad == "nan in x":
        x[0, 3, 1, 1] = np.nan
    elif bad == "inf in weight":
        w[4, 1, 2, 2] = np.inf
    elif bad == "huge float64":
        x *= 1e200
        dout *= 1e-150
    steps = ((1, 1), (1, 1))
    view = window.windows(x, (3, 3), *steps)
    columns = view.reshape(2, 2, 18, 49)
    with np.errstate(all="ignore"):
        y = convolve.correlate(x, w, 2, steps, dtype)
        dw = convolve.gather(dout, x, w.shape, 2, steps, dtype)
        forward = numerics.matmul(w.reshape(1, 2, 3, 18), columns, dtype)
        left = dout.reshape(2, 2, 3, 49).transpose(1, 2, 0, 3).reshape(2, 3, 98)
        back = numerics.matmul(left, columns.transpose(1, 0, 3, 2).reshape(2, 98, 18), dtype)
    assert y.tobytes() == forward.tobytes()
    assert dw.tobytes() == back.tobytes()


PROGRAM = """
import hashlib, sys
import numpy as np
from harness import dtypes
from harness.framework.ops import convolve, numerics
from harness.framework.ops.factor import Factor
random = np.random.Generator(np.random.PCG64(12))
digest = hashlib.sha256()
for m, k, n in ((70, 300, 90), (1, 2000, 3), (130, 7, 131)):
    a, b = random.standard_normal((m, k)), random.standard_normal((k, n))
    for dtype in (dtypes.float32, dtypes.float64, dtypes.float16):
        digest.update(numerics.matmul(a, b, dtype).tobytes())
        digest.update(numerics.matmul(a.astype("f4"), b.astype("f4"), dtype).tobytes())
    digest.update(Factor(b.astype("f4").astype("f8")).times(a[:20]).tobytes())
    plain = a @ b
x, w = (random.standard_normal(s).astype("f4") for s in ((2, 8, 20, 20), (16, 8, 3, 3)))
digest.update(convolve.correlate(x, w, 1, ((1, 1), (1, 1)), dtypes.float32).tobytes())
print(digest.hexdigest())
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "setting",
    [
        "OPENBLAS_CORETYPE=Prescott",
        *(
            pytest.param(more, marks=pytest.mark.long)
            for more in ("OPENBLAS_CORETYPE=Haswell", "OPENBLAS_NUM_THREADS=4")
        ),
    ],
)
def test_the_bits_depend_on_no_blas(setting: str) -> None:
    """Under kernels of other processors and several threads, where OpenBLAS's own products have other bits."""
    name, _, value = setting.partition("=")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS")}
    own = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment)
    other = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment | {name: value}
    )
    assert len(own.stdout.strip()) == hashlib.sha256().digest_size * 2
    assert other.stdout == own.stdout
