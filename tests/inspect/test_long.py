"""Long runs of statistics: every row is looked at for NaN, some steps whole, and the report says which were not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.bench_inspect import write_statistics
from harness.capture import read_tree
from harness.inspect import inspect
from harness.inspect.inspecting import examined
from harness.inspect.long import Thinned
from tests.inspect.made import Made


def labels(records: object) -> list[int]:
    """Steps of records, in order."""
    return sorted({each.key.iteration for each in records})  # type: ignore[attr-defined]


@given(st.integers(1, 90), st.integers(1, 200), st.none() | st.integers(0, 89))
@settings(max_examples=40, deadline=None)
def test_every_step_is_read_or_counted(steps: int, rows: int, bad: int | None) -> None:
    run = Made(statistics=True)
    for run.step in range(steps):
        x = np.full(3, np.nan if bad is not None and run.step >= bad else run.step, np.float32)
        run.op("Default/a-Abs/Abs-op0", "Abs", [x], [x])
    thinned = Thinned(run.records, rows)
    kept = labels(thinned)
    assert len(kept) + thinned.left == steps
    assert {0, steps - 1} <= set(kept)
    if bad is not None and bad < steps:
        assert bad in kept
        assert set(range(bad, steps)) == {*thinned.bad, *(step for step in kept if step >= bad)}
        assert bad == 0 or bad - 1 in kept
    else:
        assert not thinned.bad
    assert bool(thinned.untold()) == bool(thinned.left)


def test_values_are_never_left_out() -> None:
    run = Made()
    for run.step in range(40):
        run.op("Default/a-Abs/Abs-op0", "Abs", [np.ones(3)], [np.ones(3)])
    assert labels(Thinned(run.records, 1)) == list(range(40))


def test_a_tree_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_statistics(tmp_path, 30, 9)
    table = tmp_path / "rank_0" / "Net" / "0" / "17" / "statistic.csv"
    lines = table.read_text().splitlines(keepends=True)
    cells = lines[6].split(",")
    at = lines[0].strip().split(",").index("NaN Count") + 1  # the shape holds a comma
    cells[at] = "2"
    table.write_text("".join([*lines[:6], ",".join(cells), *lines[7:]]))
    monkeypatch.setattr("harness.inspect.long.Thinned.__init__.__defaults__", (20,))
    report, run = examined(read_tree(str(tmp_path)))
    assert {0, 1, 2, 16, 17, 29} <= set(report.iterations)
    assert len(report.iterations) < 20
    assert any("steps of a long run" in each for each in report.untold)
    assert [each.iteration for each in inspect(read_tree(str(tmp_path)), ["nonfinite"]).findings] == [17]
    assert run.slots == 9 * len(report.iterations)
