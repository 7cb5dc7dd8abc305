"""What should be equal on all ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.scale import cluster as clusters
from tests.scale.clusters import Far, far
from tests.scale.trees import write_tree


def test_the_first_rank_that_leaves_the_others_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = write_tree(tmp_path / "tree", range(5), 3, changed=(3, 1))
    assert main(["ranks", str(tree), "--equal", "*MatMul*:output.0"]) == 0
    assert "3 slots are equal on all ranks" in capsys.readouterr().out
    assert main(["ranks", str(tree), "--equal", "*:output.*"]) == 1
    out = capsys.readouterr().out
    assert "1 of 6 slots are not equal on all ranks" in out
    assert "First: rank 3, iteration 1, Default_relu-ReLU_ReLU-op0 output.0: rank 3 differs from 0-2, 4" in out


def test_a_rank_that_lacks_a_slot_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = write_tree(tmp_path / "tree", range(3), 2)
    next((tree / "rank_1" / "Net" / "0" / "1").glob("ReLU*output*")).unlink()
    assert main(["ranks", str(tree), "--equal", "*"]) == 1
    assert "rank 1 lacks it" in capsys.readouterr().out


@pytest.mark.parametrize(("count", "pattern", "why"), [(3, "no*", "nothing matches"), (1, "*", "only one rank")])
def test_nothing_to_hold_against_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], count: int, pattern: str, why: str
) -> None:
    tree = write_tree(tmp_path / "tree", range(count), 1)
    assert main(["ranks", str(tree), "--equal", pattern]) == 2
    assert why in capsys.readouterr().err


def test_a_rank_number_that_is_missing_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = write_tree(tmp_path / "tree", range(5), 1)
    for rank in (1, 3):
        (tree / f"rank_{rank}").rename(tmp_path / f"elsewhere_{rank}")
    assert main(["ranks", str(tree), "--equal", "*"]) == 0
    assert capsys.readouterr().out.endswith("4 slots are equal on all ranks\nNot there: rank 1, 3\n")


def test_workers_send_the_slots_that_are_compared_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tree, sent = write_tree(tmp_path / "tree", range(3), 2, changed=(2, 1)), []
    run = Far.run

    def weighed(self: Far, tasks: Any) -> Any:
        for task, result in run(self, tasks):
            if task.key[0] != "heads":
                sent.extend(step for done, _ in result.each() for step in done.found.steps)
            yield task, result

    monkeypatch.setattr(Far, "run", weighed)
    monkeypatch.setattr(clusters, "cluster", far)
    monkeypatch.chdir(tmp_path)
    words = ["ranks", str(tree), "--equal", "*ReLU*:output.0"]
    assert main(words) == 1
    alone = capsys.readouterr().out
    assert main([*words, "--workers", "1"]) == 1
    assert capsys.readouterr().out == alone
    assert "First: rank 2, iteration 1" in alone
    assert sum(len(step.slots) for step in sent) == 12, "of 24: what is compared, and one of each part"
