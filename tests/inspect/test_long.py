"""Long runs of statistics: every row is looked at for NaN, some steps whole, and the report says which were not."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.bench_inspect import write_statistics
from harness.capture import read_tree
from harness.capture.statistic_series import decimals, series_of
from harness.inspect import inspect
from harness.inspect.inspecting import examined
from harness.inspect.long import Thinned
from harness.inspect.numbers import read
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


@pytest.mark.parametrize("reader", ["long.Thinned.__init__", "columns.columns_of"])
def test_a_tree_of_rows(reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_statistics(tmp_path, 30, 9)
    table = tmp_path / "rank_0" / "Net" / "0" / "17" / "statistic.csv"
    lines = table.read_text().splitlines(keepends=True)
    cells = lines[6].split(",")
    at = lines[0].strip().split(",").index("NaN Count") + 1  # the shape holds a comma
    cells[at] = "2"
    table.write_text("".join([*lines[:6], ",".join(cells), *lines[7:]]))
    monkeypatch.setattr(f"harness.inspect.{reader}.__defaults__", (20,))
    report, run = examined(read_tree(str(tmp_path)))
    assert {0, 1, 2, 16, 17, 29} <= set(report.iterations)
    assert len(report.iterations) < 20
    assert any("steps of a long run" in each for each in report.untold)
    slot = next(op for op in run.ops if op.where.iteration == 0).outputs[0]
    assert len(run.sizes({0: slot})) == (30 if reader.startswith("columns") else 1)
    assert [each.iteration for each in inspect(read_tree(str(tmp_path)), ["nonfinite"]).findings] == [17]
    assert run.slots == 9 * len(report.iterations)


@given(st.integers(0, 1 << 30))
@settings(max_examples=25, deadline=None)
def test_columns_say_what_records_say(seed: int) -> None:
    """Steps with other operators, rows in another order, repeated operators, spoilt cells, damaged lines, cut files."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        write_statistics(Path(folder), 6, 12)
        for table in Path(folder).rglob("statistic.csv"):
            table.write_text(_changed(table.read_text(), rng))
        capture = read_tree(folder)
        series = series_of(capture.sources[0])
        assert series is not None
        records = list(capture.records())
        for record in records:
            series.note(record)
        assert {each.key.iteration for each in records} <= {at for _, at in {*series.steps, *series.odd}}
        for record in records:
            numbers, known = read(record)[0], series.of(record.key).get(record.key.iteration)
            assert (known is None) == ((0, record.key.iteration) in series.odd)
            if known is not None and numbers is not None:
                assert bool(numbers.bad) == (known[1] == np.inf)
                assert numbers.bad or known[1] == pytest.approx(numbers.rms, 1e-6)


def _changed(text: str, rng: np.random.Generator) -> str:
    head, *lines = text.splitlines(keepends=True)
    how = int(rng.integers(8))
    at = int(rng.integers(len(lines)))
    if how == 1:
        lines = lines[: at + 1]
    elif how == 2:
        rng.shuffle(lines)
    elif how == 3:
        lines[at] = lines[at].replace(",0,0,0", ",0,1,0")
    elif how == 4:
        lines[at] = lines[at].replace("float32", "no dtype")
    elif how == 5:
        cells = lines[at].split(",")
        cells[11:13], cells[18] = ["nan", "nan"], "3"
        lines[at] = ",".join(cells)
    elif how == 6:
        lines[at] = lines[at][: len(lines[at]) // 2]
        lines = lines[: at + 1]
    elif how == 7:  # an operator that runs twice
        lines[3:6] = [line.split(",", 2)[0] + "," + lines[at].split(",")[1] + "," + line.split(",", 2)[2]
                      for line in lines[3:6]]  # fmt: skip
    return head + "".join(lines)


TEXTS = st.one_of(
    st.floats().map(repr), st.floats(width=32).map("{:.6g}".format), st.integers(-(10**20), 10**20).map(str),
    st.text("0123456789.-e", max_size=20), st.sampled_from(["5.", "-.5", "+3", "1_0", "-", ".", "--1", "1.2.3"]),
)  # fmt: skip


@given(st.lists(TEXTS, min_size=1, max_size=20))
def test_numbers_are_read_as_python_reads_them(texts: list[str]) -> None:
    data = "".join(f"{each}," for each in texts).encode()
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord(","))
    starts = np.array([0, *(ends[:-1] + 1)])
    try:
        wanted = np.array([float(each) for each in texts])
    except ValueError:
        with pytest.raises(ValueError, match="could not convert"):
            decimals(data, starts, ends)
        return
    found = decimals(data, starts, ends)
    assert found.tobytes() == wanted.tobytes()
