"""Each observed fact that names a recording is needed for it: without the row the graphs change."""

from __future__ import annotations

from typing import Any

import pytest

from harness.framework import observed, ops
from harness.framework.compile import closures, simplify
from harness.framework.tensor import dispatch, tensor
from tests.framework.compile.test_recorded_graphs import DATA, RECORDED, compiled, own

TABLES = (
    "FUNCTION_GRAPHS", "LAYER_GRAPHS", "OLDER_FORMS", "DIRECT_FUNCTIONS", "PRIMITIVE_FUNCTIONS", "DIRECT_METHODS",
    "UNSHARED_FUNCTIONS",
    "FOLDED", "BEFORE_READS",
)  # fmt: skip
ROWS = [(table, row) for table in TABLES for row in getattr(observed, table)]
HELD = [(table, row) for table, row in ROWS if row.recording]
#: how many rows of each table were seen in graphs that were not kept; a row more must name its recording
WITHOUT = {
    "FUNCTION_GRAPHS": 24, "LAYER_GRAPHS": 10, "OLDER_FORMS": 0, "DIRECT_FUNCTIONS": 0, "PRIMITIVE_FUNCTIONS": 0,
    "DIRECT_METHODS": 0, "UNSHARED_FUNCTIONS": 0, "FOLDED": 0, "BEFORE_READS": 2,
}  # fmt: skip


def dropped(table: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes a row out."""
    if table == "FUNCTION_GRAPHS":
        monkeypatch.delitem(closures.FUNCTIONS, name)
    elif table == "LAYER_GRAPHS":
        monkeypatch.delitem(closures.LAYERS, name)
    elif table == "OLDER_FORMS":
        monkeypatch.delitem(dispatch._OLD_KEYWORDS, name)
    elif table == "FOLDED":
        monkeypatch.setattr(simplify, "_FOLDED", simplify._FOLDED - {name})
    elif table == "BEFORE_READS":
        monkeypatch.setattr(simplify, "_BEFORE_READS", simplify._BEFORE_READS - {name})
    elif table == "DIRECT_METHODS":
        plain = tensor._METHODS[name].__wrapped__  # type: ignore[attr-defined]
        method = dispatch.graph_function(f"Tensor.{tensor.REFLECTED.get(name, name)}", plain)
        monkeypatch.setitem(tensor._METHODS, name, method)
        monkeypatch.setattr(tensor.Tensor, name, method)
    else:
        monkeypatch.setattr(
            ops,
            name,
            dispatch.graph_function(f"ops.{name}", getattr(getattr(ops, name), "__wrapped__", getattr(ops, name))),
        )


def test_every_recording_is_there() -> None:
    for _, row in HELD:
        assert row.recording in RECORDED
        assert (DATA / "nets" / f"{row.recording}.py").is_file()


@pytest.mark.parametrize("table", TABLES)
def test_no_more_rows_are_without_a_recording(table: str) -> None:
    assert sum(not row.recording for name, row in ROWS if name == table) <= WITHOUT[table]


@pytest.mark.parametrize(("table", "row"), HELD, ids=[f"{table}-{row.name}" for table, row in HELD])
def test_a_row_taken_out_is_seen(table: str, row: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, whole = own(row.recording)
    dropped(table, row.name, monkeypatch)
    assert compiled(row.recording)[1] != whole
