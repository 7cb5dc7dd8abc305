"""Optimizers of ``mindspore.experimental.optim``: what the real ones make of a parameter, and what they refuse."""

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

ROOT = Path(__file__).parents[3]
RECORDED = json.loads((ROOT / "tests" / "data" / "nn" / "experimental.json").read_text(encoding="utf-8"))


def test_recorded_steps() -> None:
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
