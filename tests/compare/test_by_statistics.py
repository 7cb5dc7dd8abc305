"""Judging by statistics: what a tolerance admits is admitted; what no element could explain is not."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness import dtypes
from harness.compare import Tolerance, check, first_divergence, measure
from harness.compare.by_statistics import changed_statistics, row_within, rows_within, statistics_within
from harness.compare.judge import SlotJudge
from harness.compare.tolerances import Tolerances
from harness.compare.verdict import Verdict
from harness.records import Record, RecordExtra, SlotKey
from harness.stats import describe
from harness.stats.printed import ATTRIBUTES, COLUMNS, PrintedStatistics, host_texts, printed_statistics, row_digest

numbers = st.floats(-1e6, 1e6, width=32) | st.sampled_from([0.0, -0.0])
tolerance = st.builds(Tolerance, rtol=st.floats(0, 0.5), atol=st.floats(0, 10), scaled=st.floats(0, 0.5))


@given(st.data(), tolerance)
def test_whatever_values_admit_statistics_admit(data: st.DataObject, admitted: Tolerance) -> None:
    expected: Any = data.draw(hnp.arrays(np.float64, st.integers(1, 20), elements=numbers))
    noise = data.draw(hnp.arrays(np.float64, expected.shape, elements=st.floats(-1, 1)))
    # Just inside, so that float64's own rounding cannot push an element out.
    limit = admitted.atol + admitted.scaled * np.abs(expected).max() + admitted.rtol * np.abs(expected)
    found = expected + noise * limit * 0.999
    if measure(expected, found, "Float64", admitted).is_within:
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


def test_a_norm_that_overflows_hides_no_finite_elements() -> None:
    lowest = np.finfo(np.float64).min
    one, near, far = (describe(np.array([lowest, 0.0, each]), "Float64") for each in (1.0, 1.0 + 1e-9, 2e300))
    assert np.isinf(one.l2norm)
    assert statistics_within(one, near, Tolerance(rtol=1e-6))
    assert not statistics_within(one, far, Tolerance(rtol=1e-6))


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


@pytest.mark.parametrize("item", ["std", "l1 norm", "percentile 50", "abs avg"])
def test_items_of_other_writers_are_judged(item: str) -> None:
    known = {"max": "1.5", "min": "0.5", "avg": "1"}
    one, near, other, odd = (
        PrintedStatistics(known | {item: text}, "Float32") for text in ("0.5", "0.500001", "0.75", "nan")
    )
    assert rows_within(one, near, Tolerance(rtol=1e-3))
    assert not rows_within(one, other, Tolerance(rtol=1e-3))
    assert not rows_within(one, odd, Tolerance(rtol=1e-3))


def test_a_row_s_counts_are_strict_and_what_is_missing_is_not_judged() -> None:
    expected = describe(np.array([1.0, np.nan]), "Float64")
    assert not row_within(expected, row([1.0, 2.0], "nan count"), Tolerance(rtol=9))
    assert not row_within(expected, row([1.0, 2.0], "md5"), Tolerance())
    assert not row_within(expected, PrintedStatistics({"max": "null"}, "Float32"), Tolerance())


def test_two_rows_are_judged_by_what_both_have() -> None:
    one = {"max": "2", "min": "-1", "avg": "0.5", "l2norm": "3", "count": "6", "nan count": "0"}

    def within(**changed: str) -> bool:
        other = {item: text for item, text in (one | changed).items() if text}
        return rows_within(PrintedStatistics(one, "Float32"), PrintedStatistics(other, "Float32"), Tolerance(rtol=1e-3))

    assert within(max="2.001", avg="null", count="6.0", l2norm="")
    for changed in ({"max": "2.1"}, {"avg": "nan"}, {"l2norm": "4"}, {"count": "7"}, {"min": ""}, {"max": "null"}):
        assert not within(**changed), changed
    negative = PrintedStatistics(one | {"count": "-1"}, "Float32")
    assert rows_within(negative, negative, Tolerance(rtol=1e-3))


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
                    extra=RecordExtra(statistics=None if keeps_values else describe(array, "Float32")))  # fmt: skip
    ours = Record(key, "Add", "Float32", (2,), digest=b"r" * 16, extra=RecordExtra(statistics=row(found, *items)))
    judged = SlotJudge(Tolerances.parse(tolerance)).differing(golden, ours, None)
    assert judged.verdict is verdict
    assert judged.by_statistics
    if found[1] == 3.0 and "max" in items:
        assert "max 3 -> 2" in judged.reason


KEY = SlotKey(0, 0, 0, "Default/Add-op0", 0, "output", 0)


def kept(dtype: str = "Float32", values: Any = None, **texts: str) -> Record:
    """A slot of which a row was kept, or, with ``values``, these."""
    if values is not None:
        return Record(KEY, "Add", dtype, (2,), values=values, digest=b"v" * 16)
    known = PrintedStatistics(texts, dtype)
    digest = row_digest(dtype, (2,), known)
    return Record(KEY, "Add", dtype, (2,), digest=digest, extra=RecordExtra(known, known))


def judged(expected: Record, found: Record, tolerance: Any = "default") -> Verdict:
    slot = SlotJudge(Tolerances.parse(tolerance)).differing(expected, found, None)
    assert slot.by_statistics
    return slot.verdict


NUMBERS = {"max": "2", "min": "1", "l2norm": "2.23607", "count": "2"}
VALUES = np.array([1, 2], np.float32)


@pytest.mark.parametrize(
    "row",
    [
        {"max": "null", "min": "null", "l2norm": "null", "count": "null"},
        {"max": "null", "min": "null", "l2norm": "null", "count": "2"},
        {"max": "null", "min": "null", "l2norm": "2.23607", "count": "2"},
        {"count": "2"},
        {"count": "2", "nan count": "0"},
    ],
    ids=lambda row: ",".join(f"{item}={text}" for item, text in row.items()),
)
def test_a_row_that_says_nothing_of_values_is_never_within(row: dict[str, str]) -> None:
    nothing, something = kept(**row), kept(**NUMBERS)
    values = kept(values=VALUES)
    for expected, found in ((something, nothing), (nothing, something), (values, nothing), (nothing, values)):
        assert judged(expected, found) is Verdict.DIFFERS
    assert judged(values, something) is judged(something, values) is Verdict.WITHIN


@pytest.mark.parametrize("count", ["inf", "nan", "x"])
def test_a_count_that_is_no_number_is_no_agreement(count: str) -> None:
    assert judged(kept(**NUMBERS | {"count": count}), kept(**NUMBERS)) is Verdict.DIFFERS


@given(st.floats(-9, 9, width=32), st.floats(-1, 1))
def test_both_rows_were_rounded_when_they_were_printed(value: float, part: float) -> None:
    """What is within by its values is within by what is printed of them."""
    near = value + part * 0.999e-5 * abs(value)
    printed = [kept("Float64", max=f"{each:g}", min=f"{each:g}") for each in (value, near)]
    assert judged(*printed, Tolerance(rtol=1e-5)) is Verdict.WITHIN


@pytest.mark.parametrize(
    ("item", "text"), [("l2norm", "-1"), ("max", "nan"), ("min", "inf"), ("avg", "nan"), ("nan count", "nan")]
)
def test_equal_rows_that_no_tensor_has_are_not_within(item: str, text: str) -> None:
    whole = {"max": "2", "min": "1", "avg": "1.5", "l2norm": "3", "count": "4"}
    row, odd = (PrintedStatistics(texts, "Float32") for texts in (whole, whole | {item: text}))
    assert rows_within(row, row, Tolerance(rtol=1e-3))
    assert not rows_within(odd, odd, Tolerance(rtol=1e-3))


def test_rows_further_apart_than_printing_explains_differ() -> None:
    # 1.0000049999 and 1.0000150001 print so; 1.00003 is 1.00002 apart from all that prints as 1.
    one, two, three = (kept(max=text, min=text, l2norm=text) for text in ("1", "1.00002", "1.00003"))
    assert judged(one, two) is judged(two, one) is Verdict.WITHIN
    assert judged(one, three) is judged(three, one) is Verdict.DIFFERS


def test_rows_of_all_items_are_rows_too() -> None:
    def whole(text: str) -> Record:
        texts = {item: "1" if item in ("count", "positive zero count") else "0" for item in ATTRIBUTES}
        record = kept(**texts | dict.fromkeys(("max", "min", "avg", "l2norm"), text))
        record.extra.statistics = printed_statistics(record.extra.row)
        return record

    assert judged(whole("1"), whole("1.00002")) is Verdict.WITHIN
    assert judged(whole("1"), whole("1.00003")) is Verdict.DIFFERS


WHOLE = {
    "Int32": ({"max": "1234567", "min": "-3"}, {"max": "1.23457e+06", "min": "-3"}, np.array([1234567, -3], np.int32)),
    "Bool": ({"max": "True", "min": "False"}, {"max": "1", "min": "0"}, np.array([True, False])),
}


@pytest.mark.parametrize("dtype", WHOLE)
def test_whole_numbers_and_bools_whose_statistics_agree_hold_unless_bits_were_asked_for(dtype: str) -> None:
    device, host, array = WHOLE[dtype]
    sides = [kept(dtype, **device), kept(dtype, **host), kept(dtype, values=array)]
    for one, other in itertools.permutations(sides, 2):
        for tolerance in ("default", Tolerance(rtol=0.1)):
            assert judged(one, other, tolerance) is Verdict.WITHIN
        for tolerance in ("exact", {"default": "default", dtype: "exact"}):
            assert judged(one, other, tolerance) is Verdict.DIFFERS


@pytest.mark.parametrize(
    ("one", "other"),
    [({"max": "1234567", "min": "0"}, {"max": "1234568", "min": "0"}), ({"max": "2", "min": "1"}, {"max": "2"})],
)
def test_no_tolerance_excuses_another_whole_number(one: dict[str, str], other: dict[str, str]) -> None:
    assert judged(kept("Int32", **one), kept("Int32", **other), Tolerance(rtol=1.0, atol=9)) is Verdict.DIFFERS
    array = np.array([1234568, 0], np.int32)
    assert judged(kept("Int32", values=array), kept("Int32", **one), Tolerance(rtol=1.0)) is Verdict.DIFFERS


def test_whole_numbers_with_all_statistics_and_other_bits_differ() -> None:
    known = describe(np.array([1, 2], np.int32), "Int32")
    one, other = (
        Record(KEY, "Add", "Int32", (2,), digest=digest, extra=RecordExtra(statistics=known))
        for digest in (b"1" * 16, b"2" * 16)
    )
    assert judged(one, other) is Verdict.DIFFERS


def test_an_innocent_index_is_not_where_values_leave_their_statistics() -> None:
    def run(*outputs: Record) -> list[Record]:
        return [replace(each, key=KEY._replace(operator=f"Default/{at}")) for at, each in enumerate(outputs)]

    index, values = kept("Int32", values=np.array([1, 2], np.int32)), kept(values=VALUES)
    rows = run(kept("Int32", max="2", min="1"), kept(**NUMBERS), kept(max="4", min="1"))
    comparison = check(run(index, values, values), rows, "default")
    divergence = first_divergence(comparison)
    assert divergence is not None
    assert divergence.where.operator == "Default/2"
    assert check(run(index, values), rows[:2], "default").holds
