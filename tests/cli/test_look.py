"""``msdump show`` from close by: from a script's line to operators, statements, statistics and values."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.capture import read_tree
from harness.cli import main
from harness.cli.app import CANNOT_TELL, HOLDS
from harness.store import RunData, RunId, update
from tests.subprocesses import ROOT

SCRIPT = """\
import numpy as np
from harness import Tensor, context, nn, ops

context.set_context(mode=context.GRAPH_MODE)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU()

    def construct(self, x):
        y = x * x
        return self.relu(y - 3)


net = Net()
for k in range(2):
    net(Tensor(np.arange(4, dtype=np.float32) + k))
"""
CONFIG = """{"common_dump_settings": {"dump_mode": 0, "path": "PATH", "net_name": "net", "iteration": "all",
"saved_data": "tensor", "input_output": 0, "kernels": [], "support_device": [0], "op_debug_mode": 0},
"e2e_dump_settings": {"enable": true, "trans_flag": true}}"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump tree of the script, and a golden of it beside."""
    folder = tmp_path_factory.mktemp("look")
    (folder / "net.py").write_text(SCRIPT)
    (folder / "c.json").write_text(CONFIG.replace("PATH", str(folder / "tree")))
    environment = {"MINDSPORE_DUMP_CONFIG": str(folder / "c.json"), "PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    subprocess.run([sys.executable, "net.py"], cwd=folder, env=environment, check=True, stdin=subprocess.DEVNULL)
    capture = read_tree(folder / "tree", rootdir=str(folder))
    update(folder / "net.h5", "net", {RunId("cpu", "tensor"): RunData(capture.records(), capture.artefacts)})
    return folder / "tree"


def shown(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["show", *map(str, arguments)]) == HOLDS
    return capsys.readouterr().out


@pytest.mark.parametrize("store", [False, True], ids=["tree", "store"])
@pytest.mark.parametrize(
    ("line", "operators"),
    [("net.py:13", ["Default/Mul-op0"]), ("net.py:14", ["Default/Sub-op0", "Default/relu-ReLU/ReLU-op0"])],
)
def test_a_line_of_the_script(
    tree: Path, store: bool, line: str, operators: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = shown(capsys, tree.parent / "net.h5" if store else tree, "--line", line)
    assert [words.split()[2] for words in out.splitlines() if words.startswith("graph ")] == operators
    assert "# In file" in out


def test_an_operator_with_its_values(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, tree, "--operator", "Mul", "--slot", "output.0", "--iteration", 1, "--slice", "1:3")
    assert "[4. 9.]" in out
    assert out.count("iteration 1, output.0:") == 1
    out = shown(capsys, tree, "--operator", "Default/*/ReLU-op?", "--slot", "output.0")
    assert "[0. 0. 1. 6.]" in out
    assert "[ 0.  1.  6. 13.]" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--line", "net.py"], "FILE:NUMBER"),
        (["--line", "net.py:1"], "lines of that file with operators, nearest first: 12, 13, 14"),
        (["--line", "other.py:13"], "none"),
        (["--operator", "Conv2D"], "no slot of operator Conv2D"),
        (["--operator", "Mul", "--iteration", "7"], "iteration 7"),
        (["--slot", "output"], "input.N or output.N"),
        (["--operator", "Mul", "--slot", "output.0", "--slice", "x"], "indices and ranges"),
        (["--operator", "Mul", "--slot", "output.0", "--slice", "0, 0"], "too many indices"),
    ],
)
def test_what_cannot_be_shown(tree: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(tree), *arguments]) == CANNOT_TELL
    assert says in capsys.readouterr().err


def test_a_run_without_graphs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tests.store.helpers import record

    update(tmp_path / "x.h5", "net", {RunId("cpu", "tensor"): RunData([record(np.ones(3))])})
    assert main(["show", str(tmp_path / "x.h5"), "--line", "net.py:3"]) == CANNOT_TELL
    assert "holds no graphs" in capsys.readouterr().err
