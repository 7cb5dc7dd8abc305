"""Measurements kept by content equal new ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.compare import known as module
from harness.compare.known import Known
from harness.compare.measure import measure
from harness.compare.measurement import Measurement
from harness.compare.source import Source
from harness.compare.tolerances import EXACT, Tolerance

_few = st.lists(st.sampled_from([0.0, -0.0, 1.0, 1.0000001, float("nan"), float("inf"), 3e38]), min_size=2, max_size=2)


@given(st.lists(st.tuples(_few, _few, st.sampled_from(["Float32", "Float64"]), st.booleans()), max_size=12))
def test_the_same_as_measuring_each(asked: list[tuple[list[float], list[float], str, bool]]) -> None:
    known = Known()
    for one, other, name, loose in asked * 2:
        a, b = (np.array(side, name.lower()) for side in (one, other))
        tolerance = Tolerance(rtol=1e-3) if loose else EXACT
        # By text: a NaN among the numbers is not itself.
        assert repr(known.measure(Source(a), Source(b), name, tolerance)) == repr(measure(a, b, name, tolerance))


def test_the_shape_counts() -> None:
    known, zeros, ones = Known(), np.zeros(6, np.float32), np.ones(6, np.float32)
    flat = known.measure(Source(zeros), Source(ones), "Float32", EXACT)
    table = known.measure(Source(zeros.reshape(2, 3)), Source(ones.reshape(2, 3)), "Float32", EXACT)
    assert flat.at_abs == (0,)
    assert table.at_abs == (0, 0)


def test_measured_once_but_large_ones_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(expected: Source, found: Source, name: str, tolerance: Tolerance) -> Measurement:
        calls.append(expected.size)
        return measure(expected, found, name, tolerance)

    monkeypatch.setattr(module, "measure", counted)
    known, large = Known(), module.LARGEST // 4 + 1
    for size in (4, large):
        for _ in range(3):
            known.measure(Source(np.zeros(size, np.float32)), Source(np.ones(size, np.float32)), "Float32", EXACT)
    assert calls == [4, large, large, large]


def test_it_forgets_what_it_has_no_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 3)
    known = Known()
    for value in range(1, 10):
        found = known.measure(Source(np.zeros(2, np.float32)), Source(np.full(2, value, np.float32)), "Float32", EXACT)
        assert found.max_abs == value
        assert len(known._found) <= 3
