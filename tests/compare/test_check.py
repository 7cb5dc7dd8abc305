"""Every expected and every found slot ends with a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.compare import EXACT, Tolerance, Tolerances, Verdict, check
from harness.errors import RecordError, ToleranceError
from harness.records import Record
from harness.stats import digest
from harness.store import GoldenStore, RunData, update
from tests.compare.helpers import judge, verdicts
from tests.store.helpers import CPU, edit_index, network, record

ONES = np.ones((2, 3), np.float32)


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    update(tmp_path / "x.h5", "net", {CPU: RunData(network())})
    return tmp_path / "x.h5"


class Capture:
    """Something with records."""

    def __init__(self, records: list[Record]) -> None:
        self._records = records

    def records(self) -> Iterable[Record]:
        return iter(self._records)


def test_an_unchanged_run_is_identical_and_no_golden_tensor_is_read(
    golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with GoldenStore.open(golden) as store:
        run = store.run(*CPU)
        monkeypatch.setattr(type(run), "tensor", None)
        for found in (network(), iter(network()), Capture(network())):
            comparison = check(run, found)
            assert comparison.holds
            assert comparison.counts[Verdict.IDENTICAL] == len(network())
            assert [slot.key for slot in comparison.slots] == [r.key for r in network()]


def test_a_store_checks_against_itself(golden: Path) -> None:
    with GoldenStore.open(golden) as store:
        assert check(store.run(*CPU), store.run(*CPU)).holds


def test_one_ulp_in_one_slot(golden: Path) -> None:
    records = network()
    records[4].values = np.nextafter(records[4].values, np.float32(9))
    with GoldenStore.open(golden) as store:
        exact = check(store.run(*CPU), records)
        loose = check(store.run(*CPU), records, {"MatMul": Tolerance(max_ulp=1)})
    assert [slot.key for slot in exact.failures()] == [records[4].key]
    slot = exact.failures()[0]
    assert (slot.verdict, slot.source, slot.tolerance) == (Verdict.DIFFERS, records[4].source, EXACT)
    assert slot.measurement is not None
    assert slot.measurement.max_ulp == 1
    assert loose.holds
    assert loose.counts[Verdict.WITHIN] == 1
    assert loose.slots[4].reason == "25 of 25 elements differ, none beyond the tolerance"


@given(st.data())
def test_counts_are_total(data: st.DataObject) -> None:
    """Any subset on either side, any of them changed: each slot has just one verdict, the right one."""
    names = [f"Default/Op-op{n}" for n in range(6)]
    expected = [record(ONES, name) for name in data.draw(st.lists(st.sampled_from(names), unique=True))]
    found = []
    for name in data.draw(st.lists(st.sampled_from(names), unique=True)):
        found.append(record(ONES * data.draw(st.sampled_from([1, 2])), name))
    comparison = check(expected, found)
    ours, theirs = ({r.key.operator: r for r in side} for side in (found, expected))
    assert sorted(slot.key.operator for slot in comparison.slots) == sorted(ours.keys() | theirs.keys())
    for slot in comparison.slots:
        name = slot.key.operator
        if name not in ours:
            right = Verdict.MISSING
        elif name not in theirs:
            right = Verdict.UNEXPECTED
        else:
            right = Verdict.IDENTICAL if ours[name].values[0, 0] == 1 else Verdict.DIFFERS
        assert slot.verdict is right
    same_order = [n for n in theirs if n in ours] == [n for n in ours if n in theirs]
    assert comparison.holds == (
        bool(comparison.slots) and same_order and comparison.counts[Verdict.IDENTICAL] == len(comparison.slots)
    )
    assert sum(comparison.counts.values()) == len(comparison.slots)


def test_nothing_compared_does_not_hold() -> None:
    assert not check([], []).holds


# --- dtypes and shapes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
@pytest.mark.parametrize("tolerance", [None, "default", 100.0], ids=str)
def test_every_dtype_by_its_own_rule(dtype: dtypes.DType, tolerance: Any) -> None:
    """One bit up in one element."""
    one = np.ones((3, 2), np.uint8).astype(dtype.numpy)
    other = one.copy()
    words = other.reshape(-1).view(np.uint8)
    words[2 * dtype.itemsize] ^= 1
    assert judge(one, one.copy(), tolerance).verdict is Verdict.IDENTICAL
    loose = tolerance is not None and dtype.kind in "fc"
    assert judge(one, other, tolerance).verdict is (Verdict.WITHIN if loose else Verdict.DIFFERS)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (np.ones((2, 3), np.float64), "dtype is Float64, expected Float32"),
        (np.ones((2, 3), np.int32), "dtype is Int32, expected Float32"),
        (np.ones((2, 3), ml_dtypes.bfloat16), "dtype is BFloat16, expected Float32"),
        (np.ones((3, 2), np.float32), r"shape is \[3, 2\], expected \[2, 3\]"),
        (np.ones((6,), np.float32), r"shape is \[6\], expected \[2, 3\]"),
        (np.ones((2, 3, 1), np.float32), r"shape is \[2, 3, 1\], expected \[2, 3\]"),
    ],
)
def test_dtype_and_shape_are_strict(found: Any, said: str) -> None:
    slot = judge(ONES, found, Tolerance(rtol=100, atol=100))
    assert slot.verdict is Verdict.DIFFERS
    with pytest.raises(AssertionError, match=said):
        raise AssertionError(slot.reason)


def test_empty_and_0d_arrays() -> None:
    empty = np.empty((0, 3), np.float32)
    assert judge(empty, empty.copy()).verdict is Verdict.IDENTICAL
    assert judge(empty, np.empty((3, 0), np.float32), 1.0).verdict is Verdict.DIFFERS
    assert judge(np.float32(1), np.float32(1)).verdict is Verdict.IDENTICAL
    slot = judge(np.float32(1), np.float32(2))
    assert slot.measurement is not None
    assert slot.measurement.worst is not None
    assert slot.measurement.worst.index == ()
    assert judge(np.float32(1), np.ones(1, np.float32), 1.0).verdict is Verdict.DIFFERS


def test_byte_order_and_layout_do_not_matter() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    twisted = np.asfortranarray(array)
    assert judge(array, twisted).verdict is Verdict.IDENTICAL
    swapped = record(array)
    swapped.values = (array * 2).astype(">f4")
    slot = check([record(array)], [swapped], Tolerance(rtol=1.0)).slots[0]
    assert slot.verdict is Verdict.WITHIN


# --- goldens that cannot be trusted ---------------------------------------------------------------------------------


@pytest.mark.parametrize("row", [0, 5, 11])
def test_a_tampered_digest_fails_naming_that_slot(golden: Path, row: int) -> None:
    edit_index(golden, row, "digest", b"\1" * 16)
    with GoldenStore.open(golden) as store:
        comparison = check(store.run(*CPU), network(), Tolerance(rtol=100, atol=100))
    assert [slot.key for slot in comparison.failures()] == [network()[row].key]
    assert "its tensor is missing" in comparison.failures()[0].reason


def test_digests_of_two_slots_exchanged(golden: Path) -> None:
    """Both digests exist, and are those of whole objects, but not of these slots."""
    one, other = network()[2], network()[8]
    edit_index(golden, 2, "digest", digest(other.values, other.dtype))
    with GoldenStore.open(golden) as store:
        comparison = check(store.run(*CPU), network(), "default")
        assert "altered after it was written" in store.verify()[0]
    assert [slot.key for slot in comparison.failures()] == [one.key]


def test_a_digest_that_is_not_its_values() -> None:
    wrong = record(ONES, digest=b"\1" * 16)
    slot = check([record(ONES)], [wrong], "default").slots[0]
    assert slot.verdict is Verdict.DIFFERS
    assert slot.reason == "its values have the golden's bits, but the digest given with them differs"


def test_values_of_another_shape_than_said() -> None:
    wrong = record(ONES)
    wrong.values = np.zeros((3, 3), np.float32)
    wrong.digest = b"\1" * 16
    slot = check([record(ONES)], [wrong], "default").slots[0]
    assert "gives shape [2, 3], but its values have shape [3, 3]" in slot.reason


def test_a_slot_given_twice_is_an_error() -> None:
    with pytest.raises(RecordError, match=r"capture has two records for .*MatMul-op0 output\.0"):
        check([], [record(1.0), record(2.0)])
    with pytest.raises(RecordError, match="expected side has two records"):
        check([record(1.0), record(2.0)], [])


def test_a_record_of_nothing_is_an_error() -> None:
    bare = record(1.0)
    bare.values = None
    with pytest.raises(RecordError, match="neither values nor a digest"):
        check([], [bare])


def test_wrong_tolerances_are_refused_before_anything_is_read() -> None:
    def unread() -> Iterator[Record]:
        raise AssertionError("read")
        yield

    with pytest.raises(ToleranceError):
        check([], unread(), "loose")


# --- goldens without values -----------------------------------------------------------------------------------------


@pytest.fixture
def digests(tmp_path: Path) -> Path:
    update(tmp_path / "d.h5", "net", {CPU: RunData(network(), level="digest")})
    return tmp_path / "d.h5"


def changed(factor: float) -> list[Record]:
    records = network()
    records[2].values = records[2].values * np.float32(factor)
    return records


@pytest.mark.parametrize(
    ("factor", "tolerance", "verdict"),
    [
        (1.0, None, Verdict.IDENTICAL),
        (1 + 2**-20, None, Verdict.DIFFERS),
        (1 + 2**-20, "default", Verdict.UNSURE),
        (1 + 2**-20, {"default": "default", "statistics": True}, Verdict.WITHIN),
        (1.5, "default", Verdict.DIFFERS),
        (-1.0, "default", Verdict.DIFFERS),
        (0.0, Tolerance(rtol=0.9), Verdict.DIFFERS),
    ],
)
def test_digest_goldens_are_judged_by_statistics(
    digests: Path, factor: float, tolerance: Any, verdict: Verdict
) -> None:
    with GoldenStore.open(digests) as store:
        comparison = check(store.run(*CPU), changed(factor), tolerance)
    slot = comparison.slots[2]
    assert slot.verdict is verdict
    assert comparison.counts[Verdict.IDENTICAL] == len(network()) - (verdict is not Verdict.IDENTICAL)
    if verdict is not Verdict.IDENTICAL:
        assert slot.by_statistics
        assert "golden's values were not kept; by statistics: " in slot.reason
        assert slot.measurement is None


def test_equal_statistics_are_never_called_identical(digests: Path) -> None:
    records = network()
    records[2].values = np.ascontiguousarray(records[2].values[::-1])
    with GoldenStore.open(digests) as store:
        exact, loose = (check(store.run(*CPU), records, t).slots[2] for t in (None, "default"))
    assert exact.verdict is Verdict.DIFFERS
    assert loose.verdict is Verdict.UNSURE
    assert loose.by_statistics


def test_a_found_side_without_values_is_judged_by_statistics_too(golden: Path, digests: Path) -> None:
    with GoldenStore.open(golden) as full, GoldenStore.open(digests) as bare:
        assert check(full.run(*CPU), bare.run(*CPU)).holds
        edited = list(bare.run(*CPU).records())
        edited[2].digest = b"\1" * 16
        slot = check(full.run(*CPU), edited, "default").slots[2]
        asked = check(full.run(*CPU), edited, {"default": "default", "statistics": True}).slots[2]
    assert (slot.verdict, slot.by_statistics) == (Verdict.UNSURE, True)
    assert (asked.verdict, asked.by_statistics) == (Verdict.WITHIN, True)
    assert "the capture's values were not kept; by statistics: statistics agree" in slot.reason


def test_without_values_or_statistics_it_differs() -> None:
    bare = record(ONES, digest=b"\1" * 16)
    bare.values = None
    slot = check([record(ONES)], [bare], "default").slots[0]
    assert slot.verdict is Verdict.DIFFERS
    assert "values and statistics were not kept" in slot.reason


# --- order and names ------------------------------------------------------------------------------------------------


def test_unexpected_slots_stand_where_they_were_found() -> None:
    a, b, x, y, z = (record(1.0, name) for name in "abxyz")
    comparison = check([a, b], [x, a, y, z, b])
    assert [slot.key.operator for slot in comparison.slots] == list("xayzb")


def test_missing_slots_keep_their_place() -> None:
    records = [record(1.0, name) for name in "abcd"]
    comparison = check(records, [records[3], records[0]], order=False)
    assert verdicts(comparison) == {
        "a output.0": "identical", "b output.0": "missing", "c output.0": "missing", "d output.0": "identical",
    }  # fmt: skip


def test_tolerances_object_is_taken_as_it_is() -> None:
    rules = Tolerances(default=Tolerance(rtol=1))
    assert judge(ONES, ONES * 1.5, rules).tolerance is rules.default
