"""A command that is interrupted says so in one line; it leaves no unfinished file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.cli import INTERRUPTED, main, run
from harness.scale import cluster as clusters
from tests.scale.clusters import Far, far
from tests.scale.trees import write_tree


def interrupt(*_: Any, **__: Any) -> Any:
    raise KeyboardInterrupt


def test_an_interrupted_import_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = write_tree(tmp_path / "tree", range(1), 2)
    (tmp_path / "golden").mkdir()
    assert main(["import", str(tree), str(tmp_path / "golden" / "old.h5")]) == 0
    before = {path: path.read_bytes() for path in (tmp_path / "golden").iterdir()}
    capsys.readouterr()
    monkeypatch.setattr(os, "replace", interrupt)
    file = next(tree.rglob("*.npy"))
    np.save(file, np.load(file) + 1)
    for name in ("old.h5", "new.h5"):
        assert main(["import", str(tree), str(tmp_path / "golden" / name)]) == INTERRUPTED == 130
        assert capsys.readouterr() == ("", "msdump: interrupted\n")
        assert {path: path.read_bytes() for path in (tmp_path / "golden").iterdir()} == before


def test_an_interrupted_command_with_workers_keeps_its_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trees = [str(write_tree(tmp_path / name, range(2), 2)) for name in ("one", "other")]
    monkeypatch.setattr(clusters, "cluster", far)
    monkeypatch.chdir(tmp_path)
    done = Far.run

    def once(self: Far, tasks: Any) -> Any:
        for task, result in done(self, tasks):
            yield task, result
            if task.function.__name__ == "part":
                interrupt()

    monkeypatch.setattr(Far, "run", once)
    assert main(["diff", *trees, "--workers", "1"]) == INTERRUPTED
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-1] == "msdump: interrupted"
    monkeypatch.setattr(Far, "run", done)
    assert list((tmp_path / ".msdump" / "scale").iterdir())
    assert main(["diff", *trees, "--workers", "1", "--resume"]) == 0


def test_what_interrupts_a_script_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "run_script", interrupt)
    with pytest.raises(KeyboardInterrupt):
        main(["run", "script.py"])
