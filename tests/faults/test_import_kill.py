"""``msdump import`` that is killed, or runs out of disk: the store is unchanged, or holds the whole new run."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.cli import main
from harness.cli.app import CANNOT_TELL, HOLDS
from harness.dump.npy import header
from harness.store import GoldenStore
from harness.store.layout.schema import FOLDER
from tests.faults.steps import BEFORE, run
from tests.faults.test_store_kill import files_of_at_most

pytestmark = pytest.mark.faults
KILLS = 8
LEFT = ["large", "small", "x.h5", "x.manifest.json"]


def tree(path: Path, seed: int, megabytes: int) -> Path:
    """A tree of tensors of 4 MB, large enough that a thread writes its store."""
    rng = np.random.default_rng(seed)
    directory = path / "rank_0" / "Net" / "0" / "0"
    directory.mkdir(parents=True)
    for number in range(megabytes // 4):
        array = rng.standard_normal((1000, 1000), np.float32)
        name = f"ReLU.Default_ReLU-op{number}.0.0.{10**15 + number}.output.0.DefaultFormat.Float32.npy"
        (directory / name).write_bytes(header("<f4", array.shape) + array.tobytes())
    return path


def runs(golden: Path) -> list[str]:
    with GoldenStore.open(golden) as store:
        assert store.verify() == []
        return [str(run) for run in store.runs()]


@pytest.mark.long
def test_killed_at_named_calls(tmp_path: Path) -> None:
    small, large, golden = tree(tmp_path / "small", 0, 8), tree(tmp_path / "large", 1, 24), tmp_path / "x.h5"
    assert main(["import", str(small), str(golden), "--run", "kept"]) == HOLDS
    manifest = tmp_path / "x.manifest.json"
    before, described, interrupted = golden.read_bytes(), manifest.read_bytes(), 0

    def importing() -> None:
        sys.exit(main(["import", str(large), str(golden), "--run", "new"]))

    steps = len(run(importing, under=tmp_path).steps)
    for at in range(1, steps + 1, max(1, steps // KILLS)):
        golden.write_bytes(before)
        manifest.write_bytes(described)
        assert run(importing, under=tmp_path, at=at, how=BEFORE).code is None
        interrupted += (tmp_path / FOLDER).exists()
        assert main(["show", str(golden)]) == HOLDS, "what was decided is completed by whoever reads"
        if golden.read_bytes() != before:
            assert runs(golden) == ["kept/tensor", "new/tensor"]
    assert interrupted, "kills must hit the writing, or this proves nothing"
    golden.write_bytes(before)
    assert main(["import", str(large), str(golden), "--run", "new"]) == HOLDS
    assert runs(golden) == ["kept/tensor", "new/tensor"]
    assert sorted(each.name for each in tmp_path.iterdir()) == LEFT, "what was left is swept"


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("megabytes", [1, 20, 40, 46])
def test_a_full_disk(tmp_path: Path, megabytes: int, capsys: pytest.CaptureFixture[str]) -> None:
    small, large, golden = tree(tmp_path / "small", 0, 4), tree(tmp_path / "large", 1, 44), tmp_path / "x.h5"
    assert main(["import", str(small), str(golden), "--run", "kept"]) == HOLDS
    before = golden.read_bytes()
    with files_of_at_most(megabytes * 10**6):
        assert main(["import", str(large), str(golden), "--run", "new"]) == CANNOT_TELL
    assert "the old one is unchanged" in capsys.readouterr().err
    assert golden.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == LEFT


@pytest.mark.long
def test_the_reader_s_error_leaves_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree that vanishes while it is read."""
    small, large, golden = tree(tmp_path / "small", 0, 4), tree(tmp_path / "large", 1, 44), tmp_path / "x.h5"
    assert main(["import", str(small), str(golden), "--run", "kept"]) == HOLDS
    before = golden.read_bytes()
    victim = sorted(large.rglob("*.npy"))[-1]
    real = os.readv

    def cutting(*args: object) -> int:
        os.truncate(victim, 2_000_000)
        return real(*args)  # type: ignore[arg-type]

    real_open = os.open

    def opening(path: str, *args: object, **more: object) -> int:
        if Path(path).name == victim.name:
            monkeypatch.setattr(os, "readv", cutting)
        return real_open(path, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", opening)
    assert main(["import", str(large), str(golden), "--run", "new"]) == CANNOT_TELL
    assert golden.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == LEFT
