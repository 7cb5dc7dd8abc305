"""PyTorch on several ranks in the gate: processes of torchrun, and processes that a test forks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from harness.store import GoldenStore
from tests.subprocesses import ROOT

pytest_plugins = ["pytester"]

LAUNCHED = """
import os
import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

FAULT = os.environ.get("FAULT", "")
pytestmark = pytest.mark.msdump(backends="torch")

@pytest.fixture(scope="session")
def rank():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    yield dist.get_rank()
    dist.destroy_process_group()

def network():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))

def batches(rank):
    return [(torch.arange(12.0).reshape(3, 4) * (rank + 1), torch.zeros(3, 2))] * 2

def test_ddp(msdump, rank):
    torch.manual_seed(3)
    odd = nn.Sequential(nn.Linear(4, 7), nn.LayerNorm(7), nn.ReLU(), nn.Linear(7, 5), nn.Linear(5, 2))
    model = nn.parallel.DistributedDataParallel(odd, bucket_cap_mb=1e-4)
    if FAULT == "alone" and rank == 1:
        raise ValueError("only here")
    data = 7 if FAULT == "shard" and rank == 1 else rank
    msdump.train(model, nn.MSELoss(), torch.optim.SGD(model.parameters(), 0.01), batches(data))

def test_fsdp(msdump, rank):
    model = network()
    mixed = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    fully_shard(model[0], mp_policy=mixed)
    fully_shard(model, mp_policy=mixed)
    msdump.train(model, nn.MSELoss(), torch.optim.AdamW(model.parameters(), 0.01), batches(rank))

def test_tensor_parallel(msdump, rank):
    model = network()
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    parallelize_module(model, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    msdump.train(model, nn.MSELoss(), torch.optim.SGD(model.parameters(), 0.01), batches(0))
"""

FORKED = """
import os
import pytest
import torch
import torch.distributed as dist
from torch import nn

FAULT = os.environ.get("FAULT", "")
pytestmark = pytest.mark.msdump(backends="torch")

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        y = self.head(x * (dist.get_rank() + 1))
        if FAULT == "raise" and dist.get_rank() == 1:
            raise ValueError("only here")
        if FAULT == "die" and dist.get_rank() == 1:
            os._exit(3)
        dist.all_reduce(y)
        return y

def test_net(msdump):
    results = msdump.run(Net(), torch.ones(2, 3), ranks=2)
    assert torch.equal(*results)

def test_training(msdump):
    def train():
        model = nn.parallel.DistributedDataParallel(nn.Linear(4, 2))
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        batch = torch.ones(3, 4) * (dist.get_rank() + 1), torch.zeros(3, 2)
        losses = msdump.train(model, nn.MSELoss(), optimizer, [batch, batch])
        msdump.check("rank", dist.get_rank())
        return {"last": losses[-1]}
    results = msdump.run(train, ranks=2, replicated="*.weight")
    assert [set(each) for each in results] == [{".last"}] * 2
"""


def launched(folder: Path, *given: str, ranks: int = 2, fault: str = "") -> tuple[int, str]:
    """``torchrun -m pytest`` in a folder: its exit code and what it printed."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "FAULT": fault, "OMP_NUM_THREADS": "1", "MSDUMP_CI": "false"}
    for name in ("RANK", "WORLD_SIZE", "PYTEST_CURRENT_TEST", "CI", "GITHUB_ACTIONS"):
        environ.pop(name, None)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    command += ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_msdump.plugin", *given]
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=280)
    return done.returncode, done.stdout + done.stderr


def goldens_of(folder: Path, ranks: int) -> None:
    """Makes a golden of each layout, holds the layouts against them, and asserts that each golden has all ranks."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_layouts.py").write_text(LAUNCHED)
    code, text = launched(folder, "--msdump-regen", ranks=ranks)
    assert code == 0, text
    assert len(re.findall(r"^3 passed", text, re.MULTILINE)) == 1, text
    before = {path: path.read_bytes() for path in sorted((folder / "golden").rglob("*.h5"))}
    assert len(before) == 3
    for path in before:
        with GoldenStore.open(path) as store:
            (run,) = store.runs()
            records = list(store.run(run.backend, run.mode).records())
        assert {record.key.rank for record in records} == set(range(ranks))
        assert any("c10d" in record.op_type for record in records), path
    assert launched(folder, "--msdump", ranks=ranks)[0] == 0
    assert launched(folder, "--msdump-regen", ranks=ranks)[0] == 0
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.interop
def test_four_ranks_of_torchrun_share_one_golden(tmp_path: Path) -> None:
    goldens_of(tmp_path, 4)
    code, text = launched(tmp_path, "--msdump", "-k", "test_ddp", ranks=4, fault="shard")
    assert (code, text.count("First divergence")) == (1, 1), text
    assert re.search(r"^Ranks:\n  First: rank 1, ", text, re.MULTILINE), text


def test_ranks_of_torchrun_share_one_golden(tmp_path: Path) -> None:
    goldens_of(tmp_path, 2)
    code, text = launched(tmp_path, "--msdump", "-k", "test_ddp", fault="shard")
    assert (code, text.count("First divergence")) == (1, 1), text
    code, text = launched(tmp_path, "--msdump", "-k", "test_ddp", fault="alone")
    assert code == 1, text
    assert re.search(r"^rank 1: E +ValueError: only here", text, re.MULTILINE), text


@pytest.fixture
def forked(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    for name in ("CI", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    gate.makepyfile(test_forked=FORKED)
    gate.runpytest_subprocess("--msdump-regen").assert_outcomes(passed=2)
    return gate


def test_ranks_that_a_test_forks(forked: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    forked.runpytest_subprocess("--msdump").assert_outcomes(passed=2)
    with GoldenStore.open(forked.path / "golden/test_forked/test_net.h5") as store:
        records = list(store.run("torch", "tensor").records())
        for each in records:
            each.values = each.load()
    reduced = [each for each in records if each.op_type == "c10d.allreduce_"]
    assert {each.key.rank for each in reduced} == {0, 1}
    texts = {bytes(each.load()).decode() for each in reduced if each.dtype == "UInt8"}  # type: ignore[arg-type]
    assert texts == {"group=[0, 1]\nreduce_op=SUM"}
    outputs = {bytes(each.digest or b"") for each in reduced if each.key.io == "output"}
    assert len(outputs) == 1
    monkeypatch.setenv("FAULT", "raise")
    result = forked.runpytest_subprocess("--msdump", "-k", "test_net")
    result.stdout.fnmatch_lines(["RankError: rank 1 of 2: ValueError: only here*"])
    monkeypatch.setenv("FAULT", "die")
    result = forked.runpytest_subprocess("--msdump", "-k", "test_net")
    result.stdout.fnmatch_lines(["RankError: rank * of 2*"])
