"""The look at a block of float32: what it takes, and that numba sees what numpy sees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness.compare import Tolerance, measure, sweep
from tests.compare.test_near import BITS, CHANGES, SCATTER, SIZES, STEPS

SIZE = 5000


def copied(seen: sweep.Seen | None) -> tuple[Any, ...] | None:
    """With arrays of its own."""
    return None if seen is None else tuple(each.copy() if isinstance(each, np.ndarray) else each for each in seen)


def same(one: tuple[Any, ...] | None, other: tuple[Any, ...] | None) -> None:
    if one is None or other is None:
        assert one is other
        return
    for a, b in zip(one[:-1], other[:-1], strict=True):
        assert np.array_equal(a, b)
        assert type(a) is type(b)
    assert other[-1] == pytest.approx(one[-1], rel=1e-12, abs=0)


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
        plain = copied(sweep.with_numpy(expected, found))
        assert sweep.look() is not sweep.with_numpy
        same(plain, copied(sweep.look()(expected, found)))


@given(bits=hnp.arrays(np.uint32, st.integers(1, 6), elements=BITS), data=st.data())
def test_the_loops_without_numba(bits: Any, data: st.DataObject) -> None:
    steps = data.draw(hnp.arrays(np.int64, bits.size, elements=STEPS))
    found = ((bits.astype(np.int64) + steps) % 2**32).astype(np.uint32).view(np.float32)
    expected = bits.view(np.float32)
    with np.errstate(all="ignore"), pytest.MonkeyPatch.context() as patch:
        plain = copied(sweep.with_numpy(expected, found))
        patch.setattr(sweep, "_compiled", lambda: sweep.kernel_loops)
        same(plain, copied(sweep._with_numba(expected, found)))


def test_what_is_looked_at() -> None:
    one = np.array([1.0, -2.0, 0.0, 2.0**-100, 2.0**100], np.float32)
    seen = sweep.with_numpy(one, np.nextafter(one, one * 2))
    assert seen is not None
    assert (seen.unequal, seen.nonzero, seen.scale, seen.furthest) == (4, 4, 2.0**100, 1)
    for other in (0.0, -1.0, 3e-40, np.nan, np.inf, 1e35):
        assert sweep.with_numpy(np.array([1, other], np.float32), np.array([1, abs(other)], np.float32)) is None or (
            other == 0
        )


def test_used_only_once_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MSDUMP_FAST", raising=False)
    monkeypatch.setattr(sweep, "_measured", 0)
    monkeypatch.setattr(sweep, "_compiled", lambda: max)
    monkeypatch.setattr(sweep, "WORTH_IT", 8000)
    one = np.ones(1000, np.float32)
    used = []
    for _ in range(3):
        used.append(sweep.look() is not sweep.with_numpy)
        sweep.with_numpy(one, one)
    assert used == [False, False, True]
    monkeypatch.setenv("MSDUMP_FAST", "0")
    assert sweep.look() is sweep.with_numpy


def test_without_numba_numpy_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MSDUMP_FAST", "1")
    monkeypatch.setattr(sweep, "_compiled", lambda: None)
    assert measure(np.ones(3, np.float32), np.full(3, 1.5, np.float32), "Float32", Tolerance(rtol=0.1)).outside == 3
