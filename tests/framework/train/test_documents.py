"""The documents' examples run unchanged under ``msdump run``, and print what they print under the real MindSpore."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.differential.side import Side
from tests.interop.conftest import both, mindspore_python, mindspore_side, own_side

__all__ = ["both", "mindspore_python", "mindspore_side", "own_side"]

DOCUMENTS = Path(__file__).with_name("documents")
ROOT = Path(__file__).parents[3]
EXAMPLES = ("stop_at_time", "save_callback", "metrics", "print_demo")


def results(command: list[str], example: str, folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GLOG_v": "4"}
    done = subprocess.run(
        [*command, str(DOCUMENTS / f"{example}.py")],
        capture_output=True, text=True, check=False, env=environment, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def own(example: str, folder: Path) -> str:
    return results([sys.executable, "-m", "harness.cli", "run"], example, folder)


@pytest.mark.long
def test_stop_at_time(tmp_path: Path) -> None:
    assert re.fullmatch(r"epoch:  1  step:  1  loss:  0\.\d+\n", own("stop_at_time", tmp_path))


@pytest.mark.long
def test_save_callback(tmp_path: Path) -> None:
    lines = own("save_callback", tmp_path).splitlines()
    assert lines
    accuracies = [line.removeprefix("Save the maximum accuracy checkpoint,the accuracy is ") for line in lines]
    assert accuracies == sorted(accuracies)
    assert {path.name for path in tmp_path.iterdir()} == {f"{accuracy}.ckpt" for accuracy in accuracies}


@pytest.mark.long
def test_metrics(tmp_path: Path) -> None:
    first, *losses, last = own("metrics", tmp_path).splitlines()
    assert first == "Accuracy is  0.6666666666666666"
    assert [line.partition(",")[0] for line in losses] == [f"epoch: 1 step: {step}" for step in (1, 2, 3)]
    assert last == "['accuracy'] True"


def test_print(tmp_path: Path) -> None:
    assert own("print_demo", tmp_path) == (
        "print Tensor x and Tensor y:\n"
        "Tensor(shape=[2, 1], dtype=Int32, value=\n[[1]\n [1]])\n"
        "Tensor(shape=[2, 2], dtype=Int32, value=\n[[1 1]\n [1 1]])\n"
    )


@pytest.mark.long
@pytest.mark.interop
@pytest.mark.parametrize("example", EXAMPLES)
def test_the_real_one_prints_the_same(example: str, both: tuple[Side, Side], tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("own", "real")]
    ours, real = (
        side.printed(DOCUMENTS / f"{example}.py", folder, PYTHONPATH=str(ROOT))
        for side, folder in zip(both, folders, strict=True)
    )
    shown = [[f"{float(n):.5f}" for n in re.findall(r"\d+\.\d+", text)] for text in (ours, real)]
    assert shown[0] == shown[1]
    assert re.sub(r"\d+\.\d+", "#", ours) == re.sub(r"\d+\.\d+", "#", real)
    here, there = (sorted(set(os.listdir(folder)) - {"stdout", "stderr"}) for folder in folders)
    assert here == [name for name in there if name.endswith(".ckpt")]
