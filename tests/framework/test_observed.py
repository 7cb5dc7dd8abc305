"""Each observed fact that names a recording is needed for it: without the row the graphs change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.framework import observed, ops
from harness.framework.compile import closures, simplify
from harness.framework.tensor import dispatch, tensor
from tests.data.crossings.forms import FORMS
from tests.framework.compile.test_crossings import crossing, is_nearer
from tests.framework.compile.test_recorded_graphs import RECORDED, compiled, own

TABLES = (
    "FUNCTION_GRAPHS", "LAYER_GRAPHS", "OLDER_FORMS", "SAME_METHODS", "DIRECT_FUNCTIONS", "PRIMITIVE_FUNCTIONS",
    "DIRECT_METHODS", "UNSHARED_FUNCTIONS", "FOLDED", "BEFORE_READS",
)  # fmt: skip
ROWS = [(table, row) for table in TABLES for row in getattr(observed, table)]


def dropped(table: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes a row out."""
    if table == "FUNCTION_GRAPHS":
        monkeypatch.delitem(closures.FUNCTIONS, name)
    elif table == "LAYER_GRAPHS":
        monkeypatch.delitem(closures.LAYERS, name)
    elif table == "OLDER_FORMS":
        monkeypatch.delitem(dispatch._OLD_KEYWORDS, name)
    elif table == "SAME_METHODS":
        monkeypatch.setattr(dispatch, "_SAME", dispatch._SAME - {f"Tensor.{name}"})
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
    for _, row in ROWS:
        assert row.recording == "crossings" or row.recording in RECORDED


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("table", "row"), ROWS, ids=[f"{table}-{row.name}" for table, row in ROWS])
def test_a_row_taken_out_is_seen(table: str, row: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if row.recording == "crossings":
        pairs = [(n, crossing(f) - at) for n, f in enumerate(FORMS) if f.row == row.name for at in (1, 0)]
        dropped(table, row.name, monkeypatch)
        assert is_nearer(pairs, tmp_path) != [True, False] * (len(pairs) // 2)
    else:
        _, whole = own(row.recording)
        dropped(table, row.name, monkeypatch)
        assert compiled(row.recording)[1] != whole
