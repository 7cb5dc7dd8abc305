"""Judging by statistics: what a tolerance admits is admitted; what no element could explain is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness import dtypes
from harness.compare import Tolerance, measure
from harness.compare.by_statistics import changed_statistics, row_within, statistics_within
from harness.compare.judge import Judge
from harness.compare.tolerances import Tolerances
from harness.compare.verdict import Verdict
from harness.records import Record, SlotKey
from harness.stats import describe
from harness.stats.printed import COLUMNS, PrintedStatistics, host_texts

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


def row(values: Any, *items: str) -> PrintedStatistics:
    array = np.array(values, np.float32)
    return PrintedStatistics(dict(zip(items, host_texts(array, dtypes.float32, items), strict=True)), "Float32")


@given(hnp.arrays(np.float32, st.integers(1, 20), elements=numbers))
def test_a_row_is_within_what_it_was_printed_from(values: Any) -> None:
    assert row_within(describe(values, "Float32"), row(values, *COLUMNS), Tolerance())


@pytest.mark.parametrize(("item", "found"), [("max", 9.0), ("min", -9.0), ("avg", 7.0), ("l2norm", 7.0)])
def test_a_row_holds_some_items(item: str, found: float) -> None:
    expected = describe(np.array([1.0, 2.0]), "Float64")
    assert not row_within(expected, row([1.0, found, found], item), Tolerance(rtol=0.1))
    assert row_within(expected, row([1.0, 2.0001], item), Tolerance(rtol=0.1))


def test_a_row_s_counts_are_strict_and_what_is_missing_is_not_judged() -> None:
    expected = describe(np.array([1.0, np.nan]), "Float64")
    assert not row_within(expected, row([1.0, 2.0], "nan count"), Tolerance(rtol=9))
    assert row_within(expected, row([1.0, 2.0], "md5"), Tolerance())
    assert row_within(expected, PrintedStatistics({"max": "null"}, "Float32"), Tolerance())


@pytest.mark.parametrize("keeps_values", [True, False])
@pytest.mark.parametrize(
    ("found", "items", "tolerance", "verdict"),
    [
        ([1.0, 2.0], ("max", "count"), "default", Verdict.WITHIN),
        ([1.0, 2.0], ("max", "count"), "exact", Verdict.DIFFERS),
        ([1.0, 3.0], ("max", "min"), "default", Verdict.DIFFERS),
        ([1.0, 3.0], ("min",), "default", Verdict.WITHIN),
        ([1.0, 2.0], ("md5",), "default", Verdict.DIFFERS),
    ],
)
def test_a_row_against_a_golden(
    keeps_values: bool, found: list[float], items: tuple[str, ...], tolerance: str, verdict: Verdict
) -> None:
    array = np.array([1.0, 2.0], np.float32)
    key = SlotKey(0, 0, 0, "Default/Add-op0", 0, "output", 0)
    golden = Record(key, "Add", "Float32", (2,), values=array if keeps_values else None, digest=b"g" * 16,
                    extra={} if keeps_values else {"statistics": describe(array, "Float32")})  # fmt: skip
    ours = Record(key, "Add", "Float32", (2,), digest=b"r" * 16, extra={"statistics": row(found, *items)})
    judged = Judge(Tolerances.parse(tolerance)).differing(golden, ours, None)
    assert judged.verdict is verdict
    assert judged.by_statistics
    if found[1] == 3.0 and "max" in items:
        assert "max 3 -> 2" in judged.reason
