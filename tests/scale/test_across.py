"""What should be equal on all ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli import main
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
