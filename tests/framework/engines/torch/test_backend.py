"""The backend torch in use: provenance of captures, modes, scripts, the gate."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness import Tensor, ops
from harness.backends import get
from harness.capture import Capture, read_tree
from harness.compare import check
from harness.errors import UnsupportedError
from harness.store import GoldenStore, RunData, RunId, update
from tests.framework.compile.build import Net, floats, graph_mode
from tests.subprocesses import ROOT

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is needed: pip install 'pytest-msdump[torch]'", allow_module_level=True)

import torch

SCRIPT = """
import numpy as np, mindspore as ms
from mindspore import Tensor, nn, ops
ms.set_context(mode=ms.GRAPH_MODE)
class Net(nn.Cell):
    def construct(self, x):
        return ops.softmax(ops.matmul(x, x.T) / 3)
print(Net()(Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))).asnumpy().tolist())
"""


def captured(backend: str, mode: str = "tensor") -> Capture:
    with graph_mode():
        net = Net(lambda _, x: ops.softmax(ops.matmul(x, x.T) / 3))
        return get(backend).run(lambda: net(floats(3, 4)), network="net", mode=mode)


def test_it_says_what_made_the_numbers() -> None:
    capture = captured("torch")
    assert not capture.emulated
    assert capture.backend == "torch"
    rules = capture.rules
    assert rules["engine"] == f"PyTorch {torch.__version__} on cpu"
    assert rules["graph"] == "as MindSpore 2.10.0 CPU; compiled by the harness"
    assert rules["numpy kernels"] == "none"
    assert rules["settings"]["deterministic_algorithms"] is True
    assert json.loads(json.dumps(rules)) == rules


def test_the_harness_s_own_kernels_are_named() -> None:
    x = Tensor(np.array([2**64 - 1, 5], np.uint64))
    with graph_mode():
        capture = get("torch").run(lambda: Net(lambda _, x: ops.Print()(ops.maximum(x, x)))(x), network="net")
    assert capture.rules["numpy kernels"] == "Maximum (UInt64), Print"


def test_switches_are_as_before_when_a_run_is_over() -> None:
    captured("torch")
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.parametrize("mode", ["statistic", "full"])
def test_statistics_are_those_of_the_tensors(mode: str) -> None:
    tensors, capture = captured("torch"), captured("torch", mode)
    by_key = {record.key: record for record in tensors.records()}
    records = [record for record in capture.records() if record.extra.statistics is not None]
    assert records
    for record in records:
        values = by_key[record.key].load()
        assert record.extra.statistics.max == pytest.approx(float(values.max()), rel=1e-5)  # six digits, as in a file


def test_the_same_bits_each_time_and_those_of_the_cpu_within_tolerance(tmp_path: Path) -> None:
    path, run = tmp_path / "net.h5", RunId("torch", "tensor")
    update(path, "net", {run: RunData(list(captured("torch").records()))})
    with GoldenStore.open(path) as store:
        assert check(store.run(*run), captured("torch"), "exact").holds
        assert check(store.run(*run), captured("cpu"), "default").holds


def test_a_dump_tree_has_tensors_only(tmp_path: Path) -> None:
    with (
        get("torch").open(network="net", mode="statistic") as process,
        pytest.raises(UnsupportedError, match="no dump"),
    ):
        process.dump(tmp_path)


def test_a_script_runs_on_it(tmp_path: Path) -> None:
    common = {
        "op_debug_mode": 0, "dump_mode": 0, "path": str(tmp_path / "tree"), "net_name": "Net", "iteration": "all",
        "saved_data": "tensor", "input_output": 0, "kernels": [], "support_device": [0],
    }  # fmt: skip
    config, script = tmp_path / "dump.json", tmp_path / "script.py"
    config.write_text(json.dumps({"common_dump_settings": common, "e2e_dump_settings": {"enable": True}}))
    script.write_text(SCRIPT)
    found = []
    for backend in ("cpu", "torch"):
        (tmp_path / "tree").mkdir(exist_ok=True)
        command = [sys.executable, "-m", "harness.cli", "run", "--backend", backend, "--config", config, script]
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run([*map(str, command)], env=environ, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        (tmp_path / "tree").rename(tmp_path / backend)
        found.append(json.loads(done.stdout))
    np.testing.assert_allclose(*found, rtol=1e-5)
    own, theirs = read_tree(tmp_path / "cpu"), read_tree(tmp_path / "torch")
    assert [r.key for r in own.records()] == [r.key for r in theirs.records()]
    assert check(list(own.records()), list(theirs.records()), "default").holds
