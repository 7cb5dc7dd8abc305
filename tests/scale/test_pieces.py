"""Pieces that workers write beside a golden: the golden has the serial bytes, and nothing of them stays."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import ml_dtypes
import numpy as np
import pytest

from harness.scale import cluster as clusters
from harness.scale import pieces
from harness.scale.cluster import Task
from tests.scale import serial
from tests.scale.clusters import Far
from tests.scale.trees import write_tree


def _tree(folder: Path) -> Path:
    """Ranks that share tensors, one larger than what is read at once, a scalar, an empty one, bfloat16 and bools."""
    tree = write_tree(folder / "tree", range(2), 2)
    large = np.arange(700_001, dtype=np.float32)
    for rank in range(2):
        for number, (values, dtype) in enumerate((
            (large, "Float32"), (large[::-1].copy(), "Float32"), (np.float32(2.5), "Float32"),
            (np.zeros((0, 3), np.float32), "Float32"), (np.zeros(9, bool), "Bool"), (np.zeros(999, np.int64), "Int64"),
            (np.arange(12, dtype=np.float32).astype(ml_dtypes.bfloat16), "BFloat16"),
        )):  # fmt: skip
            name = f"Mul.op{number}.0.0.{17 * 10**14 + 5000 + number}.output.0.DefaultFormat.{dtype}.npy"
            np.save(tree / f"rank_{rank}" / "Net" / "0" / "1" / name, values)
    return tree


class Counting(Far):
    """Notes what is asked of workers."""

    asked: ClassVar[dict[str, int]] = {}

    def run(self, tasks: Any) -> Any:
        def noted() -> Any:
            for task in tasks:
                self.asked[task.function.__name__] = self.asked.get(task.function.__name__, 0) + 1
                yield task

        return super().run(noted())


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    @contextmanager
    def counting(*_: object) -> Any:
        Counting.asked = {}
        yield Counting()

    monkeypatch.setattr(clusters, "cluster", counting)
    return Counting.asked


@pytest.mark.sampled(3)
@pytest.mark.parametrize("words", [(), ("--compress",), ("--level", "digest")])
def test_a_golden_made_of_pieces_has_the_serial_bytes(
    tmp_path: Path, words: tuple[str, ...], asked: dict[str, int]
) -> None:
    _tree(tmp_path)
    for run in ("a", "b/tensor", "a"):  # a new golden, a run beside another one, the same run again
        before = (tmp_path / "g.h5").read_bytes() if (tmp_path / "g.h5").exists() else None
        each = ("import", "tree", "g.h5", "--run", run, *words)
        alone = serial.said(tmp_path, *each, files=("g.h5",), keep=before) if before else serial.said(
            tmp_path, *each, files=("g.h5",)
        )  # fmt: skip
        again = {"files": ("g.h5",)} | ({"keep": before} if before else {})
        assert serial.said(tmp_path, *each, "--workers", "1", **again) == alone
        assert alone[0] == 0
        assert "fetch" not in Counting.asked
        assert ("piece" in Counting.asked) == ("digest" not in words)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.h5", "g.manifest.json", "tree"]


def test_a_worker_that_sees_another_directory_sends_values(
    tmp_path: Path, asked: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    _tree(tmp_path)
    words, files = ("import", "tree", "g.h5"), ("g.h5",)
    alone = serial.said(tmp_path, *words, files=files)
    run = Far.run

    def elsewhere(self: Far, tasks: Any) -> Any:
        return run(self, (_moved(task) if task.function.__name__ == "piece" else task for task in tasks))

    monkeypatch.setattr(Far, "run", elsewhere)
    assert serial.said(tmp_path, *words, "--workers", "1", files=files) == alone
    assert Counting.asked["fetch"]


def _moved(task: Task) -> Task:
    *most, folder = task.args
    return Task(task.key, task.function, (*most, folder._replace(token="another")), task.needs, task.said)


@pytest.mark.parametrize("harm", ["full", "changed", "cut"])
def test_pieces_that_cannot_be_written_or_read_leave_the_old_golden(
    tmp_path: Path, harm: str, asked: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    _tree(tmp_path)
    assert serial.said(tmp_path, "import", "tree", "g.h5", "--run", "old")[0] == 0
    before, put = (tmp_path / "g.h5").read_bytes(), os.replace

    def replace(source: Any, target: Any) -> None:
        if ".pieces-" in str(source):
            if harm == "full":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            content = bytearray(Path(source).read_bytes())
            content[len(content) // 2] ^= 1
            Path(source).write_bytes(content if harm == "changed" else content[: len(content) // 2])
        put(source, target)

    monkeypatch.setattr(pieces.os, "replace", replace)
    code, _, error, _ = serial.said(tmp_path, "import", "tree", "g.h5", "--workers", "1")
    assert code == 2
    assert "piece" in str(error)
    assert len(str(error).splitlines()) == 1
    assert (tmp_path / "g.h5").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != ".msdump") == [
        "g.h5",
        "g.manifest.json",
        "tree",
    ]
