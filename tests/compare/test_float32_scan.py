"""The look at a block of float32: what it takes, and that numba sees what numpy sees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness.compare import Tolerance, float32_scan, measure
from tests.compare.test_float32_errors import BITS, CHANGES, SCATTER, SIZES, STEPS

SIZE = 5000


def copied(seen: float32_scan.Seen | None) -> tuple[Any, ...] | None:
    """With arrays of its own."""
    return None if seen is None else tuple(each.copy() if isinstance(each, np.ndarray) else each for each in seen)


def same(one: tuple[Any, ...] | None, other: tuple[Any, ...] | None) -> None:
    if one is None or other is None:
        assert one is other
        return
    for a, b in zip(one[:-1], other[:-1], strict=True):
        assert np.array_equal(a, b)
        assert type(a) is type(b)
    assert other[-1][:4] == pytest.approx(one[-1][:4], rel=1e-12, abs=0)
    # Relative errors are rounded to float32 one by one already.
    assert other[-1][4] == pytest.approx(one[-1][4], rel=1e-7, abs=0)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba", reason="the extra 'fast' is not installed")
    monkeypatch.setenv("MSDUMP_FAST", "1")


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("size", SIZES)
def test_numba_sees_what_numpy_sees(compiled: None, size: str, change: str) -> None:
    expected = SIZES[size][:SIZE]
    with np.errstate(all="ignore"):
        found = (expected * (1 + CHANGES[change] * SCATTER[: expected.size])).astype(np.float32)
        plain = copied(float32_scan.with_numpy(expected, found))
        assert float32_scan.look() is not float32_scan.with_numpy
        same(plain, copied(float32_scan.look()(expected, found)))


@given(bits=hnp.arrays(np.uint32, st.integers(1, 6), elements=BITS), data=st.data())
def test_the_loops_without_numba(bits: Any, data: st.DataObject) -> None:
    steps = data.draw(hnp.arrays(np.int64, bits.size, elements=STEPS))
    found = ((bits.astype(np.int64) + steps) % 2**32).astype(np.uint32).view(np.float32)
    expected = bits.view(np.float32)
    with np.errstate(all="ignore"), pytest.MonkeyPatch.context() as patch:
        plain = copied(float32_scan.with_numpy(expected, found))
        patch.setattr(float32_scan, "_compiled", lambda: float32_scan.kernel_loops)
        same(plain, copied(float32_scan._with_numba(expected, found)))


def test_what_is_looked_at() -> None:
    one = np.array([1.0, -2.0, 0.0, 2.0**-140, 2.0**99], np.float32)
    seen = float32_scan.with_numpy(one, np.nextafter(one, one * 2))
    assert seen is not None
    assert (seen.unequal, seen.nonzero, seen.scale, seen.furthest, seen.top) == (4, 4, 2.0**99, 1, 4)
    assert np.array_equal(seen.few, seen.steps)
    for left, right in (
        (0.0, -0.0), (-1.0, 1.0), (0.0, 1e-45), (1e-45, 0.0), (1.0, 2.0), (1e-40, 2e-40), (-0.0, np.nan),
        (np.nan, np.nan), (np.inf, np.inf), (1e35, 1e35), (1e30, 3e38), (1e-37, 1.00001e-37),
    ):  # fmt: skip
        assert float32_scan.with_numpy(np.array([left], np.float32), np.array([right], np.float32)) is None, (
            left,
            right,
        )


def test_bits_of_unequal_signs_are_far_apart() -> None:
    """-0.0 and a NaN of all ones are neighbours modulo 2**32, and so are the largest number and the least below 0."""
    bits = np.array([0x80000000, 0x7F7FFFFF, 0x7F800000], np.uint32)
    other = np.array([0x7FFFFFFF, 0x80000001, 0x80000000], np.uint32)
    for at in range(3):
        one, two = bits[at : at + 1].view(np.float32), other[at : at + 1].view(np.float32)
        with np.errstate(all="ignore"):
            assert float32_scan.with_numpy(one, two) is float32_scan.with_numpy(two, one) is None


def test_sums_of_many_are_taken_in_pairs() -> None:
    numbers = np.random.default_rng(0).random(40_003).astype(np.float32)
    assert float32_scan._total(numbers) == pytest.approx(float(numbers.sum(dtype=np.float64)), rel=1e-8)
    assert float32_scan._total(np.ones(8191, np.float32)) == 8191


def test_used_only_once_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MSDUMP_FAST", raising=False)
    monkeypatch.setattr(float32_scan, "_measured", 0)
    monkeypatch.setattr(float32_scan, "_compiled", lambda: max)
    monkeypatch.setattr(float32_scan, "WORTH_IT", 8000)
    one = np.ones(1000, np.float32)
    used = []
    for _ in range(3):
        used.append(float32_scan.look() is not float32_scan.with_numpy)
        float32_scan.with_numpy(one, one)
    assert used == [False, False, True]
    monkeypatch.setenv("MSDUMP_FAST", "0")
    assert float32_scan.look() is float32_scan.with_numpy


def test_without_numba_numpy_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MSDUMP_FAST", "1")
    monkeypatch.setattr(float32_scan, "_compiled", lambda: None)
    assert measure(np.ones(3, np.float32), np.full(3, 1.5, np.float32), "Float32", Tolerance(rtol=0.1)).outside == 3
