"""``--msdump-graft`` and ``msdump graft``: a test that fails runs again with the golden's tensors."""

from __future__ import annotations

import json
import sys

import pytest

pytest_plugins = ["pytester"]
INI = "[pytest]\nmsdump_backend = torch\nmsdump = false\n"

OPAQUE = """
import os
import numpy as np
import torch
from torch import nn

BAD = os.environ.get("BAD", "")

@torch.library.custom_op("ours::bent", mutates_args=())
def bent(x: torch.Tensor) -> torch.Tensor:
    return x * x + (torch.sin(5 * x) * 0.01 if BAD == "operator" else 0)

bent.register_autograd(lambda ctx, grad: grad * 2)

class Squeezed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.detach().numpy()
        return torch.from_numpy(np.arctan(y) + (np.cos(3 * y) * np.float32(0.02) if BAD == "function" else 0))
    @staticmethod
    def backward(ctx, grad):
        g = grad.numpy()
        return torch.from_numpy(g + (np.sin(99 * g) * np.float32(0.01) if BAD == "backward" else 0))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 3)
    def forward(self, x):
        y = bent(self.first(x))
        y = self.second(Squeezed.apply(y))
        return bent(y) + y.sin() * (0.3 if BAD == "two" else 0)

RUNS = []

def test_training(msdump):
    RUNS.append(1)
    if BAD == "once" and len(RUNS) > 1:
        raise RuntimeError("not a second time")
    net = Net()
    if BAD == "once":
        with torch.no_grad():
            net.first.weight[0] += torch.linspace(0, 1, 4).sin()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    x = torch.linspace(-1, 1, 12).reshape(3, 4)
    msdump.train(net, nn.MSELoss(), optimizer, [(x, torch.zeros(3, 3))] * 2)
"""


@pytest.fixture
def opaque(gate: pytest.Pytester) -> pytest.Pytester:
    """A project with operators that nothing can run again, and its golden."""
    pytest.importorskip("torch")
    gate.makeini(INI)
    gate.makepyfile(test_it=OPAQUE)
    gate.runpytest_subprocess("--msdump-regen").assert_outcomes(passed=1)
    return gate


@pytest.mark.parametrize(
    ("bad", "where"),
    [("operator", "output.0 of Default/ours.bent-op0"), ("function", "input.1 of"), ("backward", "input.0 of")],
)  # fmt: skip
def test_what_cannot_be_run_again_is_proven_by_a_graft(
    opaque: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, bad: str, where: str
) -> None:
    monkeypatch.setenv("BAD", bad)
    result = opaque.runpytest_subprocess("--msdump", "--msdump-json=told.json", "--msdump-report=page.html")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [f"Cause, proven by graft: {where}*: with the golden's instead all that follows holds*"]
    )
    told = json.loads((opaque.path / "told.json").read_text())["comparisons"]
    assert [each["cause"]["certainty"] for each in told] == ["proven by graft"]
    assert told[0]["cause"]["check"]["transformation"] == "graft"
    assert (opaque.path / "page.html").read_text().count("proven by graft") >= 1


def test_a_difference_that_begins_twice_is_not_proven(opaque: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAD", "operator")
    result = opaque.runpytest_subprocess("--msdump", "--msdump-graft=second/addmm-op0")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["With the golden's tensors in output.0 of second/addmm-op0*still leaves*bent-op0*"])
    result.stdout.no_fnmatch_line("*proven by graft*")


def test_what_is_not_asked_or_cannot_run_twice_is_told_once(
    opaque: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAD", "operator")
    opaque.runpytest_subprocess("--msdump", "--msdump-graft=off").stdout.no_fnmatch_line("*graft*")
    monkeypatch.setenv("BAD", "once")
    result = opaque.runpytest_subprocess("--msdump", "--msdump-report=page.html")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*differs from*", "Run again with the golden's tensors, the test ended before*"])
    assert "differs from" in (opaque.path / "page.html").read_text()


def test_the_command_runs_one_test_and_writes_json(opaque: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-m", "harness.cli", "graft", "test_it.py::test_training"]
    assert opaque.run(*command).ret == 0
    monkeypatch.setenv("BAD", "operator")
    found = opaque.run(*command, "--json", "-")
    assert found.ret == 1
    assert json.loads(found.stdout.str())["comparisons"][0]["cause"]["certainty"] == "proven by graft"
    unknown = opaque.run(*command, "nowhere/mul-op0")
    assert unknown.ret == 1
    unknown.stdout.fnmatch_lines(["Not run again with the golden's tensors: both sides have no tensor nowhere/mul-op0"])
    assert opaque.run(*command[:-1], "test_it.py::test_other").ret == 2


EMULATED = """
import os
from harness import Tensor, float32, nn, ops

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2, weight_init=Tensor([[1, 2, 3], [1, 3, 1]], float32))
        self.soft = nn.Softmax(int(os.environ.get("BAD", "1")))
    def construct(self, x):
        return ops.tanh(self.soft(self.fc(x)))

def test_it(msdump):
    msdump.run(Net(), Tensor([[1, 2, 3], [3, 2, 2]], float32))
"""


def test_the_emulator_goes_on_with_a_golden_tensor(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    gate.makepyfile(test_emulated=EMULATED)
    gate.runpytest_subprocess("--msdump-regen").assert_outcomes(passed=1)
    monkeypatch.setenv("BAD", "0")
    result = gate.runpytest_subprocess("--msdump", "--msdump-graft=always")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["Cause, proven by replay: axis 1 -> 0*", "Proven by graft, too: output.0 of *Softmax-op0: *"]
    )
    result = gate.runpytest_subprocess("--msdump", "--msdump-graft=Default/Tanh-op0")
    result.stdout.fnmatch_lines(["Cause, proven by replay: *", "*in output.0 of Default/Tanh-op0*still leaves*"])
