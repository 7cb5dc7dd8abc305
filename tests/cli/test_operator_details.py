"""``msdump show`` in detail: from a script's line to operators, statements, statistics and values."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.capture import read_tree
from harness.cli import main
from harness.cli.app import CANNOT_TELL, HOLDS
from harness.cli.text import shortened
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


@pytest.mark.long
@pytest.mark.sampled(2)
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
    # The statement itself, and its lines of the script.
    assert re.search(r"^  %\d+\(.*\) = PrimFunc_(Mul|Sub)\(.*\)", out, re.MULTILINE)


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
        (["--line", "other.py:13"], "files with operators: net.py"),
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


def test_ranks_are_told_apart(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for rank in (0, 1):
        shutil.copytree(tree / "rank_0", tmp_path / f"rank_{rank}")
    out = shown(capsys, tmp_path)
    assert out.splitlines()[1].split()[:3] == ["rank", "graph", "operator"]
    assert [line.split()[0] for line in out.splitlines() if "Mul-op0" in line] == ["0", "1"]
    out = shown(capsys, tmp_path, "--operator", "Mul", "--slot", "output.0")
    assert [line for line in out.splitlines() if line.startswith(("graph", "rank"))] == [
        "graph 0, Default/Mul-op0 (Mul)", "rank 1, graph 0, Default/Mul-op0 (Mul)",
    ]  # fmt: skip
    out = shown(capsys, tree)
    assert out.splitlines()[1].split()[0] == "graph"


def test_on_a_terminal_names_keep_their_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "Default/network-WithLossCell/_backbone-LeNet/conv1-Conv2d/Conv2D-op0"
    assert shortened(name) == name
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    assert shortened(name).startswith("Default/ne...")
    assert len(shortened(name)) == 40
    assert shortened(name).endswith("conv1-Conv2d/Conv2D-op0")
    assert shortened("Default/Add-op0") == "Default/Add-op0"


def test_a_run_without_graphs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tests.store.helpers import record

    update(tmp_path / "x.h5", "net", {RunId("cpu", "tensor"): RunData([record(np.ones(3))])})
    assert main(["show", str(tmp_path / "x.h5"), "--line", "net.py:3"]) == CANNOT_TELL
    assert "holds no graphs" in capsys.readouterr().err
