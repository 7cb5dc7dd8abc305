"""Rows of which some statistics are known are kept as such."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.compare import check
from harness.errors import StoreError
from harness.records import Record, RecordExtra, SlotKey
from harness.stats.printed import ATTRIBUTES, COLUMNS, PrintedStatistics, host_texts, row_digest
from harness.store import GoldenStore, RunData, update
from harness.store.layout.index import from_row, to_row
from tests.store.helpers import CPU

ARRAYS = {
    "plain": np.array([[1.5, -2.25, 0.0], [3.75, 1e6, -0.0]], np.float32),
    "nan": np.array([np.nan, 1.0], np.float32),
    "infinite": np.array([np.inf, -np.inf, 2.0], np.float32),
}


def row_record(array: np.ndarray[tuple[int, ...], np.dtype[np.float32]], items: list[str]) -> Record:
    """What a tree of statistics gives of a tensor."""
    row = PrintedStatistics(dict(zip(items, host_texts(array, dtypes.float32, items), strict=True)), "Float32")
    key = SlotKey(0, 0, 0, "Default/Add-op0", 0, "output", 0)
    digest = row_digest("Float32", array.shape, row)
    return Record(key, "Add", "Float32", array.shape, digest=digest, extra=RecordExtra(statistics=row))


@given(st.sampled_from(sorted(ARRAYS)), st.sets(st.sampled_from(sorted(ATTRIBUTES))))
def test_what_is_known_comes_back_as_it_was_printed(name: str, items: set[str]) -> None:
    array = ARRAYS[name]
    known = dict(zip(sorted(items), host_texts(array, dtypes.float32, sorted(items)), strict=True))
    row = to_row(known)
    values = {attribute: getattr(row, attribute) for attribute in ATTRIBUTES.values()}
    assert row.count < 0
    again = from_row(values, row.count, array.size, "Float32")
    assert again == {item: text.replace("-nan", "nan") for item, text in known.items()}
    assert again.changes(PrintedStatistics(known, "Float32")) == ""


@given(st.dictionaries(st.sampled_from(sorted(COLUMNS)), st.one_of(st.text(max_size=9), st.floats().map(str))))
def test_any_text_is_taken(known: dict[str, str]) -> None:
    row = to_row(known)
    from_row({name: getattr(row, name) for name in ATTRIBUTES.values()}, row.count, 3, "Float32")


ITEMS = [["max", "min", "l2norm"], ["avg"], ["max", "min", "md5"], [], list(COLUMNS)]


@pytest.mark.parametrize("items", ITEMS, ids=str)
def test_a_store_keeps_them_and_a_check_judges_them(items: list[str], tmp_path: Path) -> None:
    path, given_ = tmp_path / "x.h5", row_record(ARRAYS["plain"], items)
    update(path, "net", {CPU: RunData([given_], level="digest")})
    other = row_record(ARRAYS["plain"] * np.float32(1.01), items)
    with GoldenStore.open(path) as store:
        assert store.verify() == []
        run = store.run(*CPU)
        assert set(run.record(0).extra.statistics) == set(items) & set(ATTRIBUTES)
        assert check(run, [row_record(ARRAYS["plain"], items)]).holds
        assert check(run, [other]).holds is (not items)
        # Without the largest and the smallest nothing says how large a tolerance may be.
        loose = check(run, [other], {"rtol": 0.1, "scaled": 0.1})
        assert loose.holds is ({"max", "min"} <= set(items) or not items)
        whole = Record(other.key, "Add", "Float32", (2, 3), values=ARRAYS["plain"] * np.float32(1.01))
        assert not check(run, [whole], "exact").holds
        assert check(run, [whole], {"rtol": 0.1, "scaled": 0.1}).holds is bool(set(items) & set(ATTRIBUTES))
        reason = check(run, [whole]).slots[0].reason
        assert "the golden's values were not kept" in reason
        if "max" in items:
            assert "max 1e+06 -> 1.01e+06" in reason


def test_a_record_that_says_nothing_is_refused(tmp_path: Path) -> None:
    bare = row_record(ARRAYS["plain"], [])
    bare.extra = RecordExtra()
    with pytest.raises(StoreError, match="neither values nor statistics"):
        update(tmp_path / "x.h5", "net", {CPU: RunData([bare], level="digest")})
