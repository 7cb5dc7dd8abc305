"""Each observed fact is needed by its witness: without the row what was recorded of MindSpore no longer agrees."""

from __future__ import annotations

import json

import pytest

from tests.framework.compile.test_recorded_graphs import RECORDED
from tests.witnesses.__main__ import is_needed
from tests.witnesses.page import PAGE, written
from tests.witnesses.recordings import CALL, CALLS, apart, graphs_hold
from tests.witnesses.tables import TABLES, WITNESSES, Row, Table, rows, take_out

ROWS = rows()


def test_every_row_has_a_witness() -> None:
    assert [f"{row.table}: {row.name}" for row in ROWS if not row.witness] == []


def test_every_witness_is_there() -> None:
    for row in ROWS:
        if row.witness.startswith(CALL):
            assert row.witness.removeprefix(CALL) in CALLS
        elif "::" not in row.witness:
            assert row.witness == "crossings" or row.witness in RECORDED


def test_no_witness_is_of_a_row_that_is_gone() -> None:
    there = {(row.table, row.name) for row in ROWS}
    named = {(table, name) for table, found in json.loads(WITNESSES.read_text()).items() for name in found}
    assert named <= there


@pytest.mark.sampled(9)
@pytest.mark.parametrize("row", ROWS, ids=[f"{row.table.rpartition('.')[2]}-{row.name}" for row in ROWS])
def test_a_row_taken_out_is_seen(row: Row) -> None:
    assert is_needed(row)


def test_a_row_that_nothing_needs_is_told() -> None:
    row = next(each for each in ROWS if each.witness == "merged")
    assert not is_needed(row._replace(take_out=lambda: None))


def test_a_row_is_taken_out_of_this_process_alone() -> None:
    table = next(each for each in TABLES if each.name == "SPREAD")

    def without() -> bool:
        take_out(table, "ops.relu")
        return "ops.relu" in table.value

    assert apart(without) is False
    assert "ops.relu" in table.value


def test_a_failure_in_the_other_process_is_one_here() -> None:
    with pytest.raises(RuntimeError, match="no_such_net"):
        apart(lambda: graphs_hold("no_such_net") or RECORDED["no_such_net"])


def test_what_is_not_a_table_is_refused() -> None:
    with pytest.raises(TypeError, match="no row can be taken out"):
        take_out(Table("framework.tensor.dispatch", "OLD", ""), "x")


def test_the_page_counts_them() -> None:
    """``python -m tests.witnesses page`` rewrites it."""
    text = PAGE.read_text(encoding="utf-8")
    assert written(text) == text
