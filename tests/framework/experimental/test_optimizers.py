"""``mindspore.experimental.optim``: what the real optimizers and schedulers do (recorded), and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import Parameter, Tensor
from harness.framework.experimental import optim
from harness.framework.experimental.optim import lr_scheduler

ROOT = Path(__file__).parents[3]
RECORDED = json.loads((ROOT / "tests" / "data" / "nn" / "experimental.json").read_text(encoding="utf-8"))


def test_recorded_steps_and_rates() -> None:
    script = ROOT / "tests" / "interop" / "experimental_facts.py"
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", "run", str(script)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    found: dict[str, Any] = json.loads(done.stdout)
    assert found.keys() == RECORDED.keys()
    for case, values in RECORDED.items():
        np.testing.assert_allclose(found[case], values, rtol=2e-6, atol=1e-7, err_msg=case)


def weights(*names: str) -> list[Parameter]:
    return [Parameter(Tensor(np.ones(2, np.float32)), name=name) for name in names]


def test_groups_and_their_text() -> None:
    one, other = weights("one", "other")
    optimizer = optim.SGD([{"params": [one]}, {"params": [other], "lr": 0.5}], lr=1, momentum=0.9)
    assert [lr.name for lr in optimizer.lrs] == ["learning_rate_group_0", "learning_rate_group_1"]
    assert [group["lr"].asnumpy().item() for group in optimizer.param_groups] == [1.0, 0.5]
    assert str(optimizer).splitlines()[:2] == ["SGD (", "Parameter Group 0"]
    assert "    lr: 0.5" in str(optimizer).splitlines()
    optimizer((Tensor(np.ones(2, np.float32)), Tensor(np.ones(2, np.float32))))
    assert (one.asnumpy().tolist(), other.asnumpy().tolist()) == ([0.0, 0.0], [0.5, 0.5])


@pytest.mark.parametrize(
    ("make", "error", "told"),
    [
        (lambda p: optim.SGD(p, lr=-1.0), ValueError, "lr must be at least 0"),
        (lambda p: optim.SGD(p, lr="a"), TypeError, "lr must be a number"),
        (lambda p: optim.SGD(p, lr=0.1, nesterov=True), ValueError, "nesterov needs a momentum"),
        (lambda p: optim.Adam([]), ValueError, "params must not be empty"),
        (lambda p: optim.Adam(None), ValueError, "params must not be None"),
        (lambda p: optim.Adam([1]), TypeError, "params must be Parameters, got int"),
        (lambda p: optim.Adam(p, betas=(1.0, 0.9)), ValueError, r"betas\[0\] must be"),
        (lambda p: optim.Adamax(p, eps=0.0), ValueError, "eps must be greater than 0"),
        (lambda p: optim.Adam([{"params": p}, {"params": p}]), ValueError, "in more than one group"),
        (lambda p: optim.Adam([{"params": set(p)}]), TypeError, "must be in an order"),
        (lambda p: optim.Adam(p, weight_decay=-0.1), ValueError, "weight_decay must be at least 0"),
        (lambda p: optim.Adam(p, lr=Tensor([0.1])), ValueError, "lr must have no dimension"),
    ],
)  # fmt: skip
def test_refused_settings(make: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        make(weights("one"))


def optimizer() -> optim.SGD:
    return optim.SGD(weights("one"), lr=0.1)


@pytest.mark.parametrize(
    ("make", "error", "told"),
    [
        (lambda: lr_scheduler.StepLR(object(), 2), TypeError, "optimizer has the wrong type"),
        (lambda: lr_scheduler.StepLR(optimizer(), 2, last_epoch=-2), ValueError, "last_epoch must be at least -1"),
        (lambda: lr_scheduler.StepLR(optimizer(), 2, last_epoch=3), KeyError, "has no 'initial_lr'"),
        (lambda: lr_scheduler.StepLR(optimizer(), 2.0), TypeError, "step_size has the wrong type"),
        (lambda: lr_scheduler.LinearLR(optimizer(), 0.0), ValueError, "start_factor must be above 0"),
        (lambda: lr_scheduler.LinearLR(optimizer(), 0.5, 1.5), ValueError, "end_factor must be between"),
        (lambda: lr_scheduler.PolynomialLR(optimizer(), power=-1.0), ValueError, "power must be at least 0"),
        (lambda: lr_scheduler.LambdaLR(optimizer(), [abs, abs]), ValueError, "needs one value for each of 1 groups"),
        (lambda: lr_scheduler.ConstantLR(optimizer(), 2.0), ValueError, "factor must be between 0 and 1"),
        (lambda: lr_scheduler.MultiStepLR(optimizer(), (1, 2)), TypeError, "milestones has the wrong type"),
        (lambda: lr_scheduler.CosineAnnealingWarmRestarts(optimizer(), 0), ValueError, "T_0 must be an int"),
        (
            lambda: lr_scheduler.CosineAnnealingWarmRestarts(optimizer(), 2, 2).step(Tensor(5)),
            TypeError, "refused where T_mult is above 1",
        ),
        (
            lambda: lr_scheduler.CosineAnnealingWarmRestarts(optimizer(), 2).step(Tensor(-1)),
            ValueError, "epoch must be at least 0",
        ),
        (lambda: lr_scheduler.CyclicLR(optimizer(), 0.1, 0.2, mode="x"), ValueError, "mode must be one of"),
        (lambda: lr_scheduler.SequentialLR(optimizer(), [], [1]), ValueError, "0 schedulers need"),
        (lambda: lr_scheduler.ReduceLROnPlateau(optimizer(), factor=1.0), ValueError, "factor must be below 1"),
        (lambda: lr_scheduler.ReduceLROnPlateau(optimizer(), "least"), ValueError, "mode must be one of .*max"),
    ],
)  # fmt: skip
def test_refused_schedules(make: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        make()


def test_a_sequence_takes_schedulers_of_one_optimizer() -> None:
    steps = lr_scheduler.StepLR(optimizer(), 2)
    with pytest.raises(ValueError, match="must belong to the optimizer"):
        lr_scheduler.SequentialLR(optimizer(), [steps], [])
