"""``--msdump-granularity``, ini key, marker and argument of the same name: how finely PyTorch modules are captured."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from harness.records import Record
from harness.store import GoldenStore, RunId
from tests.plugin.test_torch_modules import _loaded  # noqa: F401  (a fixture)

pytest_plugins = ["pytester"]

MODULES = """
import os
import pytest
import torch
from torch import nn

FAULT = os.environ.get("FAULT", "")

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense, self.norm = nn.Linear(8, 8), nn.LayerNorm(8)

    def forward(self, x, *, scale):
        y = self.dense(x)
        if FAULT == "refactored":
            y = y.contiguous() * 1.0
        if FAULT == "value":
            y = y * 1.01
        return self.norm(x + y * scale)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block, self.head = Block(), nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.block(x, scale=torch.tensor(2.0)))

def trained(msdump, **more):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    batch = torch.randn(4, 8), torch.tensor([0, 1, 2, 0])
    msdump.train(net, nn.CrossEntropyLoss(), optimizer, [batch], **more)

@pytest.mark.msdump(backends="torch"MARKED)
def test_eval(msdump):
    msdump.run(Net().eval(), torch.randn(4, 8)CALLED)

@pytest.mark.msdump(backends="torch"MARKED)
def test_train(msdump):
    trained(msdump CALLED)
"""
BOUNDARIES = {"block.dense/forward-op0", "block.norm/forward-op0", "block/forward-op0", "head/forward-op0"}


def _made(gate: pytest.Pytester, marked: str = "", called: str = "") -> None:
    gate.makepyfile(test_modules=MODULES.replace("MARKED", marked).replace("CALLED", called))


def _run(gate: pytest.Pytester, name: str, granularity: str) -> list[Record]:
    with GoldenStore.open(gate.path / "golden" / "test_modules" / f"{name}.h5") as store:
        assert store.runs() == (RunId("torch", "tensor", granularity),)
        return list(store.run("torch", "tensor", granularity).records())


@pytest.mark.parametrize("by", ["flag", "ini", "marker"])
def test_modules_alone(gate: pytest.Pytester, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    flags = ["--msdump-granularity=modules"] if by == "flag" else []
    if by == "ini":
        gate.makeini("[pytest]\nmsdump_granularity = modules\n")
    _made(gate, ', granularity="modules"' if by == "marker" else "")
    gate.runpytest("--msdump-regen", *flags).assert_outcomes(passed=2)
    for name in ("test_eval", "test_train"):
        found = [each for each in _run(gate, name, "modules") if each.op_type == "Module"]
        assert {each.key.operator for each in found} == {*BOUNDARIES, "Default/forward-op0"}
        block = [(each.key.slot_name, each.shape) for each in found if each.key.operator == "block/forward-op0"]
        assert block == [("input.0", (4, 8)), ("input.1", ()), ("output.0", (4, 8))]
        assert all(each.values is not None for each in found)
    names = {each.key.operator for each in _run(gate, "test_train", "modules")}
    assert {"Default/optimizer-SGD/settings-op0", "Default/loss", "head.weight", "head.weight.grad"} <= names
    inside = {name for name in names if "-op" in name} - {each.key.operator for each in found}
    assert inside == {"Default/modules-op0", "Default/optimizer-SGD/settings-op0"}
    gate.runpytest("--msdump", *flags).assert_outcomes(passed=2)
    monkeypatch.setenv("FAULT", "refactored")
    gate.runpytest("--msdump", *flags).assert_outcomes(passed=2)
    monkeypatch.setenv("FAULT", "value")
    result = gate.runpytest("--msdump", *flags)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["First divergence: iteration 0, block/forward-op0*"])


def test_operators_do_not_survive_a_refactoring(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    _made(gate)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=2)
    monkeypatch.setenv("FAULT", "refactored")
    gate.runpytest("--msdump").assert_outcomes(failed=2)
    result = gate.runpytest("--msdump", "--msdump-granularity=modules")
    result.stdout.fnmatch_lines(
        ["*no golden for run torch/tensor/modules*", "*msdump regen --msdump-granularity=modules *"]
    )


def test_a_sentinel_keeps_digests(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    _made(gate, called=', granularity="sentinel"')
    gate.runpytest("--msdump-regen").assert_outcomes(passed=2)
    found = _run(gate, "test_eval", "operators")
    assert {each.key.operator for each in found} > BOUNDARIES
    assert all(each.values is None and not each.statistics() for each in found if each.op_type == "Module")
    gate.runpytest("--msdump").assert_outcomes(passed=2)
    monkeypatch.setenv("FAULT", "value")
    result = gate.runpytest("--msdump")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*digests differ; the golden's values were not kept, nor statistics*"])


@pytest.mark.parametrize("given", ["layers", "Operators"])
def test_an_unknown_one(gate: pytest.Pytester, given: str) -> None:
    _made(gate, f', granularity="{given}"')
    gate.runpytest("--msdump").stdout.fnmatch_lines(["*marker msdump(granularity=...): operators or modules or *"])
    _made(gate, called=f', granularity="{given}"')
    gate.runpytest("--msdump").stdout.fnmatch_lines([f"*granularity is operators, modules or sentinel, got '{given}'"])


def test_cells_have_operators_alone(nets: pytest.Pytester) -> None:
    nets.runpytest("--msdump-regen", "--msdump-granularity=modules").assert_outcomes(passed=4)
    nets.runpytest("--msdump").assert_outcomes(passed=4)
    text = (nets.path / "test_nets.py").read_text()
    nets.makepyfile(test_nets=text.replace("X)", 'X, granularity="modules")'))
    result = nets.runpytest("--msdump")
    result.stdout.fnmatch_lines(["*msdump.run: granularity is for PyTorch modules, not cells"])
