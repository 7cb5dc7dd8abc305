"""Captures of rows of statistics: what they keep, and what changes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness.capture.statistic import ITEMS, FullObserver, StatisticObserver, row_of
from harness.compare import Verdict, check
from harness.records import Record, RecordExtra, SlotKey
from harness.stats import Statistics, describe, digest
from tests.capture.nets import Net, processes

FLOATS = hnp.arrays(np.float32, hnp.array_shapes(max_dims=3, max_side=4), elements=st.floats(width=32))


@given(FLOATS)
def test_a_row_has_the_statistics_to_six_digits(array: Any) -> None:
    content, row = row_of(array, "Float32")
    exact = describe(array, "Float32")
    assert len(content) == 16
    for name in Statistics.__dataclass_fields__:
        mine, theirs = getattr(row, name), getattr(exact, name)
        assert mine == pytest.approx(theirs, rel=1e-5, nan_ok=True) if isinstance(theirs, float) else mine == theirs


@given(FLOATS, st.data())
def test_one_bit_changes_the_row(array: Any, data: st.DataObject) -> None:
    """Six digits do not show it, MD5 does."""
    other = array.copy()
    at = data.draw(st.integers(0, other.size - 1))
    other.reshape(-1).view(np.uint32)[at] ^= 1
    assert row_of(array, "Float32")[0] != row_of(other, "Float32")[0]
    assert row_of(array, "Float32")[0] == row_of(array.copy(), "Float32")[0]


@given(FLOATS)
def test_dtype_and_shape_are_part_of_the_row(array: Any) -> None:
    flat = array.reshape(-1, 1, 1, 1, 1)
    assert row_of(array, "Float32")[0] != row_of(flat, "Float32")[0]
    assert row_of(array, "Float32")[0] != digest(array, "Float32")


@given(processes())
def test_rows_stand_for_the_slots_that_full_has_with_values(process: tuple[list[Net], list[int]]) -> None:
    nets, calls = process
    rows, full = StatisticObserver(), FullObserver()
    for call in calls:
        nets[call].run([rows, full])
    kept, whole = (list(observer.capture("Net", "cpu").records()) for observer in (rows, full))
    assert [record.key for record in kept] == [record.key for record in whole]
    assert all(record.values is None for record in kept)
    assert [repr(record.extra.statistics) for record in kept] == [repr(record.extra.statistics) for record in whole]


def test_a_difference_is_judged_by_the_rows() -> None:
    def record(array: Any) -> Record:
        content, row = row_of(array, "Float32")
        key = SlotKey(0, 0, 0, "Default/Add-op0", 0, "output", 0)
        return Record(key, "Add", "Float32", array.shape, digest=content, extra=RecordExtra(statistics=row))

    array = np.linspace(1, 2, 7, dtype=np.float32)
    near, far = np.nextafter(array, np.float32(3)), array * 2
    assert check([record(array)], [record(array)], "exact").holds
    assert not check([record(array)], [record(near)], "exact").holds
    by_rows = {"default": 1e-5, "statistics": True}
    assert {slot.verdict for slot in check([record(array)], [record(near)], by_rows).slots} == {Verdict.WITHIN}
    # Statistics prove no agreement of values: unless they are said to count, nobody can tell.
    assert {slot.verdict for slot in check([record(array)], [record(near)], 1e-5).slots} == {Verdict.UNSURE}
    for tolerance in (by_rows, 1e-5):
        assert {slot.verdict for slot in check([record(array)], [record(far)], tolerance).slots} == {Verdict.DIFFERS}


def test_everything_but_sha1_is_asked_for() -> None:
    assert len(ITEMS) == 12
    assert "md5" in ITEMS
