"""A training is watched while it runs: by callback, by ``msdump run --inspect``, and around a loop of PyTorch."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness import GRAPH_MODE, Tensor, nn, ops, set_context
from harness.framework.dataset import GeneratorDataset
from harness.framework.runtime.session import fresh
from harness.framework.train import Model
from harness.inspect.digests import Digests
from harness.inspect.live import Health
from tests.subprocesses import ROOT

SCRIPT = """
import numpy as np
from mindspore import GRAPH_MODE, Tensor, nn, ops, set_context
set_context(mode=GRAPH_MODE)
class Net(nn.Cell):
    def construct(self, x):
        return ops.{what}(x)
Net()(Tensor(np.array([0, 1], np.float32)))
"""


class Rooted(nn.Cell):
    """Takes the root of what it multiplies: its gradient is infinite at 0."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Dense(3, 2, weight_init="ones", has_bias=False)

    def construct(self, x: Tensor) -> Tensor:
        return ops.sqrt(self.inner(x))


@pytest.mark.parametrize("spoilt", [None, 2])
def test_a_callback_captures_the_step_after_an_alarm(spoilt: int | None) -> None:
    health = Health(stop=True)
    batches = [(np.full((2, 3), 0 if at == spoilt else 1, np.float32), np.ones((2, 2), np.float32)) for at in range(6)]
    with fresh():
        set_context(mode=GRAPH_MODE)
        net = Rooted()
        model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.01))
        model.train(
            1, GeneratorDataset(batches, ["x", "y"], shuffle=False), callbacks=[health], dataset_sink_mode=False
        )
    if spoilt is None:
        assert health.report is None
        assert len(health.sentinel.digests.steps) == 6
        return
    assert health.sentinel.alarm is not None
    assert (health.sentinel.alarm.step, health.sentinel.alarm.name) == (2, "inner.weight")
    assert health.report is not None
    assert [each.kind for each in health.report.errors] == ["given by weights"]
    assert (health.report.iterations, len(health.sentinel.digests.steps)) == ([3], 4)


@pytest.mark.parametrize(("what", "code"), [("log", 1), ("exp", 0)])
def test_a_script_is_inspected_when_it_is_over(what: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(SCRIPT.replace("{what}", what))
    words = [sys.executable, "-m", "harness.cli", "run", "--inspect", "net.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, cwd=tmp_path, env=environment, text=True, capture_output=True, check=False)
    assert done.returncode == code, done.stderr
    assert ("log of zero" in done.stderr) == bool(code)


def test_digests_tell_what_looks_wrong() -> None:
    digests = Digests()
    for value in (1.0, 1.1, 0.9, 1.0):
        assert digests.take({"w": value, "w.grad": value, "loss": value}) is None
    grown = digests.take({"w": 1.0, "w.grad": 500.0})
    assert grown is not None
    assert (grown.kind, grown.name, grown.step) == ("exploding", "w.grad", 4)
    zero, bad = digests.take({"w.grad": 0.0}), digests.take({"w": math.nan})
    assert zero is not None
    assert bad is not None
    assert (zero.kind, bad.kind) == ("zero gradients", "not finite")


@pytest.mark.interop
def test_a_loop_of_pytorch_is_watched() -> None:
    torch = pytest.importorskip("torch")
    from harness.inspect.live import StoppedError
    from harness.inspect.torch_watch import watch

    torch.manual_seed(0)
    module = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(module.parameters(), 0.1)
    watched = watch(module, stop=True)

    def train() -> None:
        for at in range(6):
            with watched.step():
                optimizer.zero_grad()
                x = torch.full((4, 3), math.inf if at == 2 else 1.0)
                watched.loss(module(x).square().mean()).backward()
                optimizer.step()

    with pytest.raises(StoppedError, match="after step 2"):
        train()
    assert len(watched.digests.steps) == 3
    assert watched.report is not None
    assert watched.report.errors
