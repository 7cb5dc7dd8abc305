"""float32 measured in float32: ``Floats`` is right, however near or far the sides are."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness import dtypes
from harness.compare import EXACT, Tolerance, measure
from harness.compare.bulk import BLOCK, bulk_of, largest
from harness.compare.float32_errors import Near
from harness.compare.floats import Floats
from harness.compare.measurement import Measurement, Sums
from harness.compare.source import Source

FLOAT32 = dtypes.by_name("Float32")
TOLERANCES = [EXACT, Tolerance(), Tolerance(rtol=1e-5, scaled=1e-6, max_ulp=1), Tolerance(rtol=3e-4, atol=1e-9)]
RNG = np.random.default_rng(5)
NORMAL = RNG.standard_normal(3 * BLOCK + 17).astype(np.float32)
SIZES = {
    "normal": NORMAL,
    "half zeros": np.maximum(NORMAL, 0),
    "a negative zero": np.where(np.arange(NORMAL.size) == 7, np.float32(-0.0), NORMAL),
    "small": NORMAL * np.float32(1e-28),
    "subnormal among others": np.where(np.arange(NORMAL.size) % 1000 == 3, np.float32(1e-42), NORMAL),
    "large": NORMAL * np.float32(1e37),
    "a nan": np.where(np.arange(NORMAL.size) == BLOCK + 1, np.float32(np.nan), NORMAL),
    "infinite": np.where(np.arange(NORMAL.size) == 2 * BLOCK, np.float32(np.inf), NORMAL),
    "constant": np.full(BLOCK + 3, 0.1, np.float32),
    "one element": np.array([3.0], np.float32),
}
SCATTER = RNG.standard_normal(NORMAL.size)
CHANGES = {
    "nothing": 0.0,
    "a rounding": 6e-8,
    "two roundings": 2e-7,
    "about 1e-5": 1e-5,
    "a thousandth": 1e-3,
    "a tenth": 0.1,
    "more than itself": 3.0,
}


def by_floats(expected: Any, found: Any, tolerance: Tolerance) -> Measurement:
    """What ``measure`` gives where ``Floats`` measures."""
    sides = Source(expected), Source(found)
    running = Floats(FLOAT32, tolerance, lambda: largest(sides[0]), lambda: bulk_of(*sides))
    with np.errstate(all="ignore"):
        for start in range(0, expected.size, BLOCK):
            running.add(start, expected[start : start + BLOCK], found[start : start + BLOCK])
    return running.result(Source(expected), Source(found))


def agree(one: Measurement, other: Measurement) -> None:
    """All is equal, but for the rounding of sums."""
    for field in fields(Measurement):
        if field.name != "sums":
            assert repr(getattr(one, field.name)) == repr(getattr(other, field.name)), field.name
    for field in fields(Sums):
        assert getattr(one.sums, field.name) == pytest.approx(getattr(other.sums, field.name), rel=1e-7, abs=0)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("tolerance", TOLERANCES, ids=str)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("size", SIZES)
def test_as_floats_has_it(size: str, change: str, tolerance: Tolerance) -> None:
    expected = SIZES[size]
    with np.errstate(all="ignore"):
        found = (expected * (1 + CHANGES[change] * SCATTER[: expected.size])).astype(np.float32)
    agree(measure(expected, found, "Float32", tolerance), by_floats(expected, found, tolerance))


@pytest.mark.parametrize("limit", [1e-3, 5e-3, 1e-6, 1e-4])
@pytest.mark.parametrize("units", [-2, -1, 0, 1, 2])
def test_errors_about_as_large_as_a_limit(limit: float, units: int) -> None:
    expected = np.linspace(1, 2, 5000, dtype=np.float32)
    found = (expected * (1 + limit)).astype(np.float32)
    found = (found.view(np.int32) + np.int32(units)).view(np.float32)
    agree(measure(expected, found, "Float32"), by_floats(expected, found, EXACT))


BITS = st.one_of(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0, 1, 0x7FFFFF, 0x800000, 0xD800000, 0x7F7FFFFF, 0x7F800000, 0x3F800000]),
)
STEPS = st.one_of(st.integers(-3, 3), st.sampled_from([-(2**23) - 1, -(2**23), 2**23, 2**23 + 1, 2**24]))


@given(
    bits=hnp.arrays(np.uint32, st.integers(1, 6), elements=BITS),
    data=st.data(),
    tolerance=st.sampled_from(TOLERANCES),
)
def test_any_bits_and_their_neighbours(bits: Any, data: st.DataObject, tolerance: Tolerance) -> None:
    steps = data.draw(hnp.arrays(np.int64, bits.size, elements=STEPS))
    found = ((bits.astype(np.int64) + steps) % 2**32).astype(np.uint32)
    one, other = bits.view(np.float32), found.view(np.float32)
    agree(measure(one, other, "Float32", tolerance), by_floats(one, other, tolerance))


def test_near_blocks_are_not_left_to_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[int] = []
    monkeypatch.setattr(Floats, "add", lambda self, start, expected, found: left.append(start))
    expected = SIZES["half zeros"]
    measure(expected, expected * np.float32(1.1), "Float32")
    assert left == []
    assert issubclass(Near, Floats)
