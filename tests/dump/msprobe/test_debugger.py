"""``PrecisionDebugger`` in a script: level L2 writes msprobe's layout, those that see calls need PyNative mode."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import numpy as np, mindspore as ms, sys
from mindspore import nn, Tensor
from msprobe.mindspore import PrecisionDebugger
ms.set_context(mode=ms.GRAPH_MODE)
debugger = PrecisionDebugger(config_path=sys.argv[1])
net = nn.Dense(3, 2)
for _ in range(2):
    debugger.start()
    net(Tensor(np.ones((2, 3), np.float32)))
    debugger.stop()
    debugger.step()
"""


def run(tmp_path: Path, level: str, **more: object) -> subprocess.CompletedProcess[str]:
    config = {"task": "statistics", "dump_path": str(tmp_path / "dump"), "rank": [], "step": [], "level": level, **more}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "harness.cli", "run", "--backend", "ascend-o2", "script.py", "config.json"]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)


def test_kernels_are_dumped_step_by_step(tmp_path: Path) -> None:
    done = run(tmp_path, "L2")
    assert done.returncode == 0, done.stderr
    for step in ("step0", "step1"):
        found = json.loads((tmp_path / "dump" / step / "rank" / "dump.json").read_text())
        assert any("MatMul" in key for key in found["data"])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("level", ["L0", "mix"])
def test_levels_of_calls_are_refused_in_graph_mode(tmp_path: Path, level: str) -> None:
    done = run(tmp_path, level)
    assert done.returncode == 1
    assert f"level {level} sees the calls of PyNative mode, the mode is GRAPH_MODE" in done.stderr
    assert not (tmp_path / "dump").exists()
