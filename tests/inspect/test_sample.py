"""The documents' AlexNet, narrow, with an overflow and with a wrong initialisation: from the dump to the line of the
script in one command; overflow dump, exception dump and the recorder's files of a run that failed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import main
from tests.subprocesses import ROOT

pytestmark = pytest.mark.long

ALEXNET = """
import sys
import numpy as np
from mindspore import GRAPH_MODE, Tensor, dtype, nn, ops, set_context, set_seed
from mindspore.common.initializer import Normal
set_context(mode=GRAPH_MODE)
set_seed(1)
OVERFLOW, WIDE = "overflow" in sys.argv, "wide" in sys.argv
class AlexNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 11, stride=4, has_bias=True)
        self.conv2 = nn.Conv2d(4, 8, 5, has_bias=True)
        self.conv3 = nn.Conv2d(8, 12, 3, has_bias=True)
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(3, 2), nn.Flatten()
        self.fc1 = nn.Dense(12, 32, weight_init=Normal(3.0) if WIDE else "HeUniform")
        self.fc2 = nn.Dense(32, 10)
    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.flatten(self.pool(self.relu(self.conv3(x))))
        if OVERFLOW:
            half = ops.cast(x, dtype.float16)
            x = ops.cast(half * 60000 * 1000, dtype.float32)  # overflow
        x = self.fc1(x)  # wide
        return self.fc2(self.relu(x))
net = AlexNet()
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.01, 0.9))
rng = np.random.default_rng(0)
for _ in range(2):
    x = rng.normal(size=(4, 3, 67, 67)).astype(np.float32)
    step(Tensor(x), Tensor(rng.integers(0, 10, 4).astype(np.int32)))
"""
FAILING = """
import numpy as np
from mindspore import GRAPH_MODE, Tensor, nn, ops, set_context
set_context(mode=GRAPH_MODE)
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Dense(4, 5), nn.Dense(5, 3)
    def construct(self, x, i):
        x = ops.relu(self.a(x))
        x = ops.gather_d(x, 1, i)  # fails
        return self.b(x)
Net()(Tensor(np.ones((2, 4), np.float32)), Tensor(np.array([[0, 1, 2, 3, 9]] * 2, np.int32)))
"""


def line_of(script: str, mark: str) -> int:
    """Number of the line with a comment."""
    return next(at for at, each in enumerate(script.splitlines(), 1) if each.endswith(f"# {mark}"))


def run(folder: Path, script: str, words: list[str], mode: int | None, backend: str = "cpu", **environ: str) -> None:
    """Runs a script under a dump of everything, of overflow (3) or of exceptions (4); no dump for None."""
    (folder / "net.py").write_text(script)
    settings: list[str] = []
    if mode is not None:
        common = {
            "dump_mode": 0, "path": str(folder / "dump"), "net_name": "Net", "iteration": "all", "saved_data": "tensor",
            "input_output": 0, "kernels": [], "support_device": [0], "op_debug_mode": mode,
        }  # fmt: skip
        whole = {"e2e_dump_settings": {"enable": True, "trans_flag": True}} if mode == 0 else {}
        (folder / "dump.json").write_text(json.dumps({"common_dump_settings": common, **whole}))
        settings = ["--config", "dump.json"]
    command = [sys.executable, "-m", "harness.cli", "run", "--backend", backend, *settings, "net.py", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **environ}
    subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True, check=False)


@pytest.mark.parametrize(
    ("word", "kind"), [("overflow", "overflow of Float16"), ("wide", "weights too large")]
)  # fmt: skip
def test_from_the_dump_to_the_line(word: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, ALEXNET, [word], 0)
    assert main(["inspect", str(tmp_path / "dump")]) == 1
    first = capsys.readouterr().out.splitlines()
    assert f"Error, {kind}" in first[1]
    assert f"net.py:{line_of(ALEXNET, word)})" in first[2]
    assert first[3].strip().startswith("proven")


def test_an_overflow_dump_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, ALEXNET, ["overflow"], 3, "ascend-o2")
    assert main(["inspect", str(tmp_path / "dump")]) == 1
    out = capsys.readouterr().out
    assert "Error, intermediate overflow [nonfinite]: GraphKernel_Cast_Mul_Mul_Cast_fusion" in out
    assert main(["inspect", str(tmp_path / "dump"), "--rules", "mindinsight-operator-overflow"]) == 1
    flagged = capsys.readouterr().out
    records = list((tmp_path / "dump").rglob("Opdebug.Node_OpDebug.*"))
    assert flagged.startswith(f"Net: {len(records)} errors, ")
    assert "not there" not in flagged
    assert "GraphKernel_Cast_Mul_Mul_Cast_fusion" in flagged


def test_an_exception_dump_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, FAILING, [], 4, "ascend-o2")
    assert main(["inspect", str(tmp_path / "dump")]) == 1
    out = capsys.readouterr().out
    assert "index 9 is asked for of a tensor of shape [2, 5]" in out
    assert "an exception dump keeps what the failed kernel read" in out


def test_the_recorder_s_files_say_where_the_run_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorder = {"MS_RDR_ENABLE": "1", "MS_RDR_MODE": "1", "MS_RDR_PATH": str(tmp_path / "recorded")}
    run(tmp_path, FAILING, [], None, **recorder)
    for folder in ("recorded", "recorded/rank_0"):
        assert main(["inspect", str(tmp_path / folder)]) == 1
        out = capsys.readouterr().out
        assert "the latest step ended in GatherD-op0, kernel 4 of 6" in out
        assert f"net.py:{line_of(FAILING, 'fails')})" in out
        assert "the recorder keeps none" in out
    run(tmp_path, FAILING.replace("9]", "0]"), [], None, **{**recorder, "MS_RDR_MODE": "2"})
    for each in (tmp_path / "recorded").rglob("*mem_address_list*"):
        each.chmod(0o600)
        each.write_text("broken")
    assert main(["inspect", str(tmp_path / "recorded")]) == 2
    assert "mem_address_list" in capsys.readouterr().out
