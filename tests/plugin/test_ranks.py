"""``msdump.run(..., ranks=N)``: processes that communicate, one run of a golden, and a failure that names the rank."""

from __future__ import annotations

import pytest

from harness.store import GoldenStore

pytest_plugins = ["pytester"]

TEST = """
import os
import numpy as np
import pytest
from harness import communication, context, nn

@pytest.mark.msdump
def test_trained(msdump):
    def train(x, y):
        communication.init()
        rank = communication.get_rank()
        context.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
        if os.environ.get("FAULT") == f"data {rank}":
            x = x * 1.5
        if os.environ.get("FAULT") == f"error {rank}":
            raise ValueError("enough")
        axis = 1 if os.environ.get("FAULT") == f"axis {rank}" else -1
        net = nn.SequentialCell(nn.Dense(3, 2), nn.Softmax(axis))
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
        return step(x + rank, y), {"rank": rank, "size": communication.get_group_size()}, [p.name for p in step.weights]

    found = msdump.run(train, np.ones((4, 3), np.float32), np.ones((4, 2), np.float32), ranks=2)
    assert [each[1] for each in found] == [{"rank": 0, "size": 2}, {"rank": 1, "size": 2}]
    assert found[0][2] == ["0.weight", "0.bias"]
    assert found[0][0].shape == found[1][0].shape
    assert communication.get_group_size() == 1
    if os.environ.get("FAULT") == "twice":
        msdump.run(train, np.ones((4, 3), np.float32), np.ones((4, 2), np.float32), ranks=2)
"""


def test_ranks_are_one_run_of_a_golden(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    gate.makepyfile(test_ranked=TEST)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=1)
    with GoldenStore.open(gate.path / "golden" / "test_ranked" / "test_trained.h5") as golden:
        records = list(golden.run("cpu", "tensor").records())
        described = golden.run("cpu", "tensor").operators
    assert {rank for rank, _, _ in described} == {0, 1}
    names = [{record.key[1:] for record in records if record.key.rank == rank} for rank in range(2)]
    assert names[0] == names[1]
    assert len(names[0]) == len(records) // 2
    summed = {
        (record.key.rank, record.key.operator): record.digest
        for record in records
        if record.op_type == "AllReduce" and record.key.io == "output"
    }
    assert len(summed) == 4
    assert all(summed[0, operator] == summed[1, operator] for _, operator in summed)
    gate.runpytest("--msdump").assert_outcomes(passed=1)

    monkeypatch.setenv("FAULT", "data 1")
    result = gate.runpytest("--msdump")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "First divergence: rank 1, iteration 0, *_backbone-SequentialCell/0-Dense/MatMul-op0, output.0*",
        "  on rank 1 alone of 2;*",
    ])  # fmt: skip

    monkeypatch.setenv("FAULT", "axis 1")  # equal values, another argument
    result = gate.runpytest("--msdump")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["First divergence: rank 1, *1-Softmax*"])

    monkeypatch.setenv("FAULT", "error 0")
    result = gate.runpytest("--msdump")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["CollectiveError: rank 0 failed: ValueError: enough*", "*ValueError: enough"])

    monkeypatch.setenv("FAULT", "twice")
    result = gate.runpytest("--msdump")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*SettingError: msdump.run(ranks=...): the ranks of a test run once*"])
