"""``msdump run --ranks``: a script as several ranks, their dumps and logs, and how the run ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.cli import main

ROOT = Path(__file__).resolve().parents[2]
TRAINING = """
import sys
import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn
from mindspore.communication import init, get_rank, get_group_size

ms.set_context(mode=ms.GRAPH_MODE)
init()
rank, size = get_rank(), get_group_size()
ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
ms.set_seed(5)
net = nn.Dense(3, 2)
random = np.random.default_rng(1)
rows = random.standard_normal((8, 3)).astype(np.float32), random.standard_normal((8, 2)).astype(np.float32)
data = ds.NumpySlicesDataset(rows, ["x", "y"], shuffle=False, num_shards=size, shard_id=rank).batch(4)
model = ms.Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9))
model.train(2, data)
print("rank", rank, "of", size, *(p.asnumpy().tobytes().hex() for p in net.trainable_params()))
if rank == 1 and "fail" in sys.argv:
    raise ValueError("enough")
if "fail" in sys.argv:
    model.train(1, data)
"""


def config(folder: Path) -> Path:
    """A dump configuration that writes to ``folder``."""
    common = {
        "dump_mode": 0, "path": str(folder), "net_name": "Net", "iteration": "all", "saved_data": "tensor",
        "input_output": 0, "kernels": [], "support_device": [0, 1], "op_debug_mode": 0,
    }  # fmt: skip
    path = folder.with_suffix(".json")
    path.write_text(json.dumps({"common_dump_settings": common, "e2e_dump_settings": {"enable": True}}))
    return path


def msdump(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "harness.cli", "run", *arguments],
        cwd=cwd, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


def test_a_data_parallel_training(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINING)
    done = msdump("--ranks", "2", "--config", str(config(tmp_path / "dump")), "train.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = sorted(done.stdout.splitlines())
    assert [line[:11] for line in lines] == ["rank 0 of 2", "rank 1 of 2"]
    assert lines[0][11:] == lines[1][11:], "both ranks have the same weights"
    reduced = [of_collectives(tmp_path / "dump" / f"rank_{rank}") for rank in range(2)]
    assert len(reduced[0]) == 2 * 2 * 2, "two parameters, in and out, two steps"
    assert reduced[0].keys() == reduced[1].keys()
    for key, total in reduced[0].items():
        if key[2] == "output":
            first, second = (each[(*key[:2], "input")] for each in reduced)
            assert np.array_equal(total, first + second)
            assert np.array_equal(total, reduced[1][key])


def of_collectives(folder: Path) -> dict[tuple[str, str, str], np.ndarray[Any, Any]]:
    """The tensors of the gradients' AllReduce: by iteration, operator, input or output."""
    found = {}
    for file in folder.glob("Net/0/*/AllReduce.*"):
        _, operator, *_, io, _, _, _, _ = file.name.split(".")
        assert operator.startswith("Default_grad_reducer-DistributedGradReducer_AllReduce-op")
        found[file.parent.name, operator, io] = np.load(file)
    return found


def test_a_rank_that_fails_ends_the_run(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINING)
    done = msdump("--ranks", "2", "--logs", "logs", "train.py", "fail", cwd=tmp_path)
    assert done.returncode == 1
    said = r"msdump: rank 1 failed \(exit code 1\); waiting: rank 0 in AllReduce\(sum\) of Float32\[2(, 3)?\]\n"
    assert re.fullmatch(said, done.stderr)
    assert not done.stdout
    first, second = ((tmp_path / "logs" / f"worker_{rank}.log").read_text() for rank in range(2))
    assert first.count("\n") == 1
    assert second.rstrip().endswith("ValueError: enough")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--ranks", "0"], "--ranks 0: accepted: a number from 1 to 1024"),
        (["--ranks", "5000"], "--ranks 5000: accepted: a number from 1 to 1024"),
        (["--ranks", "2", "--timeout", "-1"], "--timeout -1: accepted: seconds, 0 for no limit"),
    ],
)
def test_wrong_options_are_one_line(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "train.py"
    script.write_text("")
    assert main(["run", *options, str(script)]) == 2
    assert capsys.readouterr().err == f"msdump: {said}\n"


def test_an_interrupt_leaves_no_process(tmp_path: Path) -> None:
    (tmp_path / "wait.py").write_text("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(60)\n")
    running = subprocess.Popen(
        [sys.executable, "-m", "harness.cli", "run", "--ranks", "2", "wait.py"], cwd=tmp_path, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests in the background ignore it
    )  # fmt: skip
    assert running.stdout is not None
    ranks = [int(running.stdout.readline()) for _ in range(2)]
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert (running.returncode, said) == (130, "msdump: interrupted; all ranks were ended\n")
    for rank in ranks:
        with pytest.raises(ProcessLookupError):
            os.kill(rank, 0)
