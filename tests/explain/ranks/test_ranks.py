"""Ranks that left: which was first, where and why, over trainings of several ranks with a fault on purpose."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from harness.capture import Capture
from harness.cli import main
from harness.explain.ranks import RanksReport, Run, alone, as_json, beside, kind_of, lines
from harness.gate.ranks import unequal
from harness.records import Record
from harness.store import RunData, RunId, update
from tests.explain.ranks.faults import FAULTS, Fault
from tests.explain.ranks.trainings import KINDS, drawn

#: what one run alone may say, or not say, depending on how many ranks are alike
_MAY_SAY = {
    "replica": "replicated", "order": "replicated", "bit in a reduction": "bit-flip", "rate": "replicated",
    "frozen": "replicated",
}  # fmt: skip


def named(report: RanksReport) -> str:
    """The cause of the first finding; empty if there is none."""
    return report.first.cause.name if report.first is not None and report.first.cause is not None else ""


def told(seed: int, kind: str | None = None, ranks: int | None = None) -> tuple[Fault, RanksReport, RanksReport]:
    """A drawn fault, what is said beside its golden, and of the run alone."""
    training = drawn(seed, ranks, kind)
    found = Run(training.run())
    right = drawn(seed, ranks, kind)
    fault, right.fault = training.fault, None
    assert fault is not None
    assert fault.done
    return fault, beside(Run(right.run()), found), alone(found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_rank_operator_and_cause_beside_a_golden(kind: str, seed: int) -> None:
    fault, report, _ = told(seed, kind)
    assert report.first is not None, fault
    assert fault.rank in report.first.ranks, (fault, lines(report))
    assert len(report.first.ranks) == 1 or kind == "mean for sum", lines(report)
    assert report.first.execution.operator == fault.operator, (fault, lines(report))
    assert named(report) == FAULTS[kind][0], (fault, lines(report))
    assert report.others == [], lines(report)
    assert len(lines(report)) <= 25


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_run_alone_can_tell(kind: str) -> None:
    for seed in (3, 4):
        fault, _, report = told(seed, kind)
        allowed = {FAULTS[kind][1], _MAY_SAY.get(kind, FAULTS[kind][1])}
        allowed |= {""} if kind in _MAY_SAY else set()
        allowed |= {"reduction"} if kind == "reduction asked for" else set()
        assert named(report) in allowed, (fault, lines(report))
        assert report.first is None or fault.rank in report.first.ranks, (fault, lines(report))


@pytest.mark.parametrize("seed", range(8))
def test_clean_runs_raise_no_alarm(seed: int) -> None:
    training, again = drawn(seed, kind=""), drawn(seed, kind="")
    run = Run(training.run())
    assert alone(run, () if training.pairs else ["*.weight"]).first is None
    assert beside(Run(again.run()), run).first is None


def test_sixty_four_ranks() -> None:
    fault, report, own = told(5, "stale buffer", 64)
    assert report.first is not None
    assert report.first.ranks == (fault.rank,)
    assert named(report) == named(own) == "stale"
    assert len(report.ranks) == 64


def test_collectives_in_another_order_are_seen_by_their_shapes() -> None:
    records = []
    for rank in range(3):
        shapes = [(2,), (3,)] if rank != 1 else [(3,), (2,)]
        training = drawn(0, kind="")
        training.records = {each: [] for each in range(3)}
        training.iteration, training.counts = 0, [Counter[str]() for _ in range(3)]
        for shape in shapes:
            array = np.arange(shape[0], dtype=np.float32)
            training.op(rank, "c10d.allreduce_", "c10d.allreduce_", [array], array, "group=[0, 1, 2]\nreduce_op=SUM")
        records += training.records[rank]
    report = alone(Run(records))
    assert report.first is not None
    assert (report.first.ranks, named(report)) == ((1,), "order")


def test_kinds_of_collectives() -> None:
    kinds = [kind_of(each) for each in ("c10d._reduce_scatter_base_", "_c10d_functional.all_reduce", "AllReduce")]
    assert kinds == ["reduce_scatter", "all_reduce", "all_reduce"]
    assert [kind_of(each) for each in ("gather", "scatter", "MatMul", "ReduceSum")] == [""] * 4


def _kept(path: Path, records: list[Record]) -> str:
    update(path, "net", {RunId("torch", "tensor"): RunData(records)})
    return str(path)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    training = drawn(11, 4, "not reduced")
    bad = _kept(tmp_path / "bad.h5", training.run())
    training.fault, fault = None, training.fault
    good = _kept(tmp_path / "good.h5", training.run())
    assert fault is not None
    assert main(["ranks", good]) == 0
    assert main(["ranks", good, good]) == 0
    capsys.readouterr()
    assert main(["ranks", bad, good, "--json", str(tmp_path / "out.json")]) == 1
    said = capsys.readouterr().out
    assert f"First: rank {fault.rank}, iteration {fault.iteration}, {fault.operator}" in said
    assert "Cause: its result is its own input: nothing was reduced" in said
    assert json.loads((tmp_path / "out.json").read_text())["first"]["cause"]["kind"] == "not-reduced"
    assert main(["ranks", bad]) == 1
    assert main(["ranks", bad, good, "--equal", "*"]) == 2
    capsys.readouterr()
    page = tmp_path / "page.html"
    assert main(["diff", good, bad, "--report", str(page)]) == 1
    said = capsys.readouterr().out
    assert f"Ranks:\n  First: rank {fault.rank}, iteration {fault.iteration}, {fault.operator}" in said
    assert "its result is its own input: nothing was reduced" in page.read_text()


def _captured(records: list[Record]) -> Capture:
    return Capture("net", "torch", False, records)


def test_slots_that_must_be_equal() -> None:
    training = drawn(3, 2, "replica")
    records = training.run()
    assert training.fault is not None
    assert "layer" in unequal(_captured(records), ["*.weight"])
    assert unequal(_captured(drawn(3, 2, "").run()), ["*.weight"]) == ""
    assert "nothing of that name" in unequal(_captured(records), ["*.bias"])
    assert "one rank" in unequal(_captured([each for each in records if each.key.rank == 0]), ["*"])


def test_reports_are_plain_json() -> None:
    _, report, _ = told(2, "group")
    assert json.loads(json.dumps(as_json(report)))["first"]["ranks"] == list(report.first.ranks if report.first else ())
