"""Declared shards are joined before they are compared with a run that was not sharded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.cli import main

#: One network: an input's weight, and what it gives. Rows of the weight lie on several ranks.
WEIGHT = np.arange(24, dtype=np.float32).reshape(6, 4)


def write(folder: Path, parts: list[np.ndarray], axis: int = 0, out: float = 1.0, iterations: int = 2) -> Path:
    """A rank for each part; a replicated output on each."""
    for rank, part in enumerate(parts):
        for iteration in range(iterations):
            place = folder / f"rank_{rank}" / "Net" / "0" / str(iteration)
            place.mkdir(parents=True)
            name = f"MatMul.Default_fc1-Dense_MatMul-op0.0.0.{1_700_000_000_000_000 + iteration}"
            np.save(place / f"{name}.input.1.DefaultFormat.Float32.npy", part + iteration)
            value = np.full(3, out, np.float32)
            np.save(place / f"{name}.output.0.DefaultFormat.Float32.npy", value)
    return folder


@pytest.mark.sampled(2)
@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("ranks", [2, 3])
def test_shards_are_the_whole(tmp_path: Path, axis: int, ranks: int, capsys: pytest.CaptureFixture[str]) -> None:
    whole = write(tmp_path / "whole", [WEIGHT])
    parts = write(tmp_path / "parts", np.array_split(WEIGHT, ranks, axis))
    declared = f"--shard=Default*fc1*:input.1={axis}"
    assert main(["diff", str(whole), str(parts)]) == 1, "undeclared, they are other tensors"
    assert main(["diff", str(whole), str(parts), declared]) == 0
    assert main(["diff", str(parts), str(whole), declared]) == 0
    assert main(["import", str(whole), str(tmp_path / "golden.h5")]) == 0
    assert main(["check", str(parts), str(tmp_path / "golden.h5"), declared]) == 0
    capsys.readouterr()
    assert main(["check", str(parts), str(tmp_path / "golden.h5"), declared, "--exact"]) == 0


def test_a_difference_in_a_shard_is_found_at_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = write(tmp_path / "whole", [WEIGHT])
    changed = WEIGHT.copy()
    changed[4, 2] += 100
    parts = write(tmp_path / "parts", np.array_split(changed, 3))
    assert main(["diff", str(whole), str(parts), "--shard", "*fc1*:input.1=0"]) == 1
    out = capsys.readouterr().out
    assert "input.1" in out
    assert "[4, 2]" in out


def test_what_is_not_declared_is_compared_on_each_rank(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = write(tmp_path / "whole", [WEIGHT])
    parts = write(tmp_path / "parts", np.array_split(WEIGHT, 3))
    other = next((parts / "rank_2" / "Net" / "0" / "1").glob("*output*"))
    np.save(other, np.full(3, 9, np.float32))
    assert main(["diff", str(whole), str(parts), "--shard", "*fc1*:input.1=0"]) == 1
    out = capsys.readouterr().out
    assert "First divergence: rank 2, iteration 1" in out
    assert "on rank 2 alone of 3" in out


def test_a_rank_that_lacks_its_shard(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = write(tmp_path / "whole", [WEIGHT])
    parts = write(tmp_path / "parts", np.array_split(WEIGHT, 3))
    next((parts / "rank_1" / "Net" / "0" / "0").glob("*input.1*")).unlink()
    assert main(["diff", str(whole), str(parts), "--shard", "*fc1*:input.1=0", "--csv", "-"]) == 1
    assert sum("missing" in line for line in capsys.readouterr().out.splitlines()) == 1


@pytest.mark.parametrize(
    ("shard", "why"),
    [
        ("fc1", "--shard is OPERATOR:SLOT=AXIS"),
        ("*:input.1=x", "--shard is OPERATOR:SLOT=AXIS"),
        ("fc1=0", "--shard is OPERATOR:SLOT=AXIS"),
        ("*:input.9=0", "nothing matches *:input.9"),
        ("*:input.1=2", "has 2 axes"),
        ("*:input.1=-3", "has 2 axes"),
        ("*:input.1=1", "they cannot be joined along axis 1"),
    ],
)
def test_bad_declarations_are_one_line(
    tmp_path: Path, shard: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = write(tmp_path / "whole", [WEIGHT])
    parts = write(tmp_path / "parts", np.array_split(WEIGHT, [1, 3]))
    assert main(["diff", str(whole), str(parts), "--shard", shard]) == 2
    error = capsys.readouterr().err
    assert why in error
    assert len(error.splitlines()) == 1


def test_nothing_to_join(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = write(tmp_path / "whole", [WEIGHT])
    assert main(["diff", str(whole), str(whole), "--shard", "*:input.1=0"]) == 2
    assert "either side has one rank" in capsys.readouterr().err


def test_a_parameter_is_called_by_its_owner(tmp_path: Path) -> None:
    from harness.compare.shards import Shard
    from harness.records import Record, SlotKey

    record = Record(SlotKey(0, 0, 0, "block.fc1.weight", 0, "output", 0), "Parameter", "Float32", (2,))
    for pattern in ("Default/block/fc*:weight", "block.fc1:weight", "block.fc1.weight:output.0"):
        assert Shard.parse(f"{pattern}=0").fits(record)
    assert not Shard.parse("Default/fc*:weight=0").fits(record)
