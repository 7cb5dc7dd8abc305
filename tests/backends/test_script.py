"""An unchanged script on an emulated device, with the dump that its environment asks for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.capture import read_tree
from tests.subprocesses import ROOT

SCRIPT = """
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)


class Net(nn.Cell):
    def construct(self, x):
        return ops.exp(x * x) + x


Net()(Tensor(np.ones((2, 3), np.float32)))
"""
FUSED = {"GraphKernel_Mul_Exp_Add_fusion"}
ALONE = {"Mul", "Exp", "Add"}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("backend", "operators"), [("gpu", ALONE), ("ascend-o0", ALONE), ("ascend-o1", FUSED), ("ascend-o2", FUSED)]
)
def test_the_tree_is_the_device_s(backend: str, operators: set[str], tmp_path: Path) -> None:
    common = {
        "dump_mode": 0, "path": str(tmp_path / "dump"), "net_name": "Net", "iteration": "all", "input_output": 0,
        "kernels": [], "support_device": [0], "op_debug_mode": 0, "saved_data": "tensor",
    }  # fmt: skip
    sections = {"common_dump_settings": common, "e2e_dump_settings": {"enable": True, "trans_flag": True}}
    if backend == "ascend-o2":
        del sections["e2e_dump_settings"]
    config, script = tmp_path / "dump.json", tmp_path / "script.py"
    config.write_text(json.dumps(sections))
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", "run", "--backend", backend, str(script)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "MINDSPORE_DUMP_CONFIG": str(config)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    records = list(read_tree(tmp_path / "dump", backend=backend).records())
    assert {record.op_type for record in records} == operators
