"""``msdump run``: an unchanged MindSpore script on an emulated backend."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.capture import read_tree
from harness.cli import main

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import sys
import numpy as np
import mindspore
import mindspore as ms
import mindspore.nn as nn
from mindspore import Tensor, context, ops
from mindspore.common.initializer import Normal

context.set_context(mode=context.GRAPH_MODE, device_target="CPU")
ms.set_seed(3)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 2, weight_init=Normal(0.02))
    def construct(self, x):
        return ops.relu(self.dense(x))

if __name__ == "__main__":
    print(Net()(Tensor(np.ones((2, 3)), ms.float32)).shape, sys.argv[1:])
    sys.exit(5)
"""


def msdump(*arguments: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Runs ``msdump run`` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "harness.cli", "run", *arguments],
        cwd=cwd, env={**os.environ, "PYTHONPATH": str(ROOT), **environ}, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A dump configuration that writes to ``tmp_path/dump``."""
    settings = {
        "dump_mode": 0, "path": str(tmp_path / "dump"), "net_name": "Net", "iteration": "all", "saved_data": "tensor",
        "input_output": 0, "kernels": [], "support_device": [0], "op_debug_mode": 0,
    }  # fmt: skip
    path = tmp_path / "data_dump.json"
    path.write_text(
        json.dumps({"common_dump_settings": settings, "e2e_dump_settings": {"enable": True, "trans_flag": True}})
    )
    return path


def test_a_script_runs_and_its_exit_code_is_passed_on(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    done = msdump("train.py", "--epochs", "3", "--help", "-x", cwd=tmp_path)
    assert done.stderr == ""
    assert done.stdout == "(2, 2) ['--epochs', '3', '--help', '-x']\n"
    assert done.returncode == 5


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("by", ["option", "environment"])
def test_it_dumps(tmp_path: Path, config: Path, by: str) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    if by == "option":
        done = msdump("--backend", "cpu", "--config", "data_dump.json", "train.py", cwd=tmp_path)
    else:
        done = msdump("train.py", cwd=tmp_path, MINDSPORE_DUMP_CONFIG=str(config))
    assert done.returncode == 5
    types = {record.op_type for record in read_tree(tmp_path / "dump").records()}
    assert {"MatMul", "ReLU", "Parameter"} <= types


@pytest.mark.long
def test_it_dumps_as_msprobe_is_told(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "config.json").write_text(json.dumps({"task": "tensor", "level": "L2", "dump_path": "probe"}))
    done = msdump("--backend", "ascend-o2", "--msprobe", "config.json", "train.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (5, "")
    assert (tmp_path / "probe" / "step0" / "rank" / "dump.json").exists()
    assert "MatMul" in {record.op_type for record in read_tree(tmp_path / "probe").records()}


@pytest.mark.long
def test_an_uncaught_exception_is_printed_as_by_python(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("import mindspore\nraise ValueError('mine')\n")
    done = msdump("bad.py", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "Traceback (most recent call last):",
        f'  File "{tmp_path}/bad.py", line 2, in <module>',
        "    raise ValueError('mine')",
        "ValueError: mine",
    ]


@pytest.mark.long
def test_a_module_the_harness_lacks_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("import mindspore.no_such_part\n")
    done = msdump("bad.py", cwd=tmp_path)
    assert done.returncode == 1
    assert (
        "No module named 'mindspore.no_such_part': MindSpore 2.10.0 has no such module either"
        in done.stderr.splitlines()[-1]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.py"], "msdump: cannot open script 'none.py'"),
        (["--config", "none.json", "ok.py"], "none.json"),
        (["--msprobe", "none.json", "ok.py"], "none.json"),
        (["--backend", "cpv", "ok.py"], "no backend is called 'cpv'; did you mean cpu?"),
        (["."], "msdump: cannot open script '.'"),
    ],
    ids=["script", "config", "msprobe", "backend", "directory"],
)
def test_what_cannot_be_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str],
    message: str,
) -> None:  # fmt: skip
    (tmp_path / "ok.py").write_text("print('ran')")
    monkeypatch.chdir(tmp_path)
    assert main(["run", *arguments]) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert "Traceback" not in err
    assert out == ""


@pytest.mark.parametrize(
    ("ends", "code", "says"),
    [("", 0, True), ("raise SystemExit(0)", 0, True), ("raise SystemExit(3)", 3, False), ("1 / 0", 1, False)],
)
def test_why_nothing_was_dumped_is_no_word_about_an_error(ends: str, code: int, says: bool, tmp_path: Path) -> None:
    """A script that failed says why by itself: its error, and a refused configuration, are the last line."""
    script, config = tmp_path / "s.py", tmp_path / "dump.json"
    config.write_text("{}")
    script.write_text(f"import mindspore\n{ends}\n")
    command = [sys.executable, "-m", "harness.cli", "run", "--config", str(config), str(script)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert ("nothing was dumped" in done.stderr) is says


def test_a_refused_configuration_is_the_last_line(tmp_path: Path) -> None:
    script, config = tmp_path / "s.py", tmp_path / "dump.json"
    config.write_text('{"common_dump_settings": {"dump_mode": 7}}')
    script.write_text(
        "import mindspore as ms\nfrom mindspore import Tensor, nn\nms.set_context(mode=ms.GRAPH_MODE)\n"
        "nn.ReLU()(Tensor([1.0], ms.float32))\n"
    )
    command = [sys.executable, "-m", "harness.cli", "run", "--config", str(config), str(script)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "DumpConfigError" in done.stderr.splitlines()[-1]
