"""The recorded nestings of the library's functions (``tests/data/nestings``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.framework import nn, ops
from harness.framework.compile import nestings
from harness.framework.compile.nestings import Recorded, table
from harness.framework.tensor import Tensor
from tests.data.crossings.forms import FORMS
from tests.framework.compile.test_crossings import crossing, is_nearer


def test_every_row_names_something_that_is_there() -> None:
    for call in table():
        name = call.partition("(")[0]
        owner = Tensor if name.startswith("Tensor.") else ops if name.startswith("ops.") else nn
        assert hasattr(owner, name.rpartition(".")[2]), call


def test_an_operator_is_looked_at_behind_its_graph_and_before_its_inputs() -> None:
    for call, row in table().items():
        assert row.operators, call
        assert list(row.levels) == sorted(row.levels), call
        for _op, graph, seen, left in row.operators:
            assert row.levels[graph] < seen < left, call


@pytest.mark.parametrize(
    ("call", "expression"), [("ops.cumsum(tensor, int)", "ops.cumsum(y, 1)"), ("Tensor.sum(tensor)", "y.sum()")]
)
def test_a_row_decides_the_crossing(call: str, expression: str, monkeypatch: Any, tmp_path: Path) -> None:
    number = next(n for n, form in enumerate(FORMS) if form.expression == expression)
    pairs = [(number, crossing(FORMS[number]) - at) for at in (1, 0)]
    assert is_nearer(pairs, tmp_path) == [True, False]
    levels, operators, _ = table()[call]
    later = Recorded(levels, tuple((op, graph, seen, left + 3) for op, graph, seen, left in operators))
    monkeypatch.setattr(nestings, "table", lambda: {call: later})
    assert is_nearer(pairs, tmp_path) == [True, True]
