"""Optimizers: parameters and states after three steps, and the kernels, are what MindSpore's CPU gives and shows."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.framework import nn
from harness.framework.tensor import Parameter, Tensor
from tests.examples import asked
from tests.interop.optimizer_facts import recorded, run

#: a text is the error MindSpore's CPU raises (it has no kernel)
FACTS = recorded()
#: here the weights' decay stands before the step's count (docs/differences.md)
OTHER_ORDER = "nn.RMSProp(params, 0.05, decay=0.8, momentum=0.5, epsilon=1e-6, weight_decay=0.01, loss_scale=4.0)"
#: there the choices of these make several graphs, here others (docs/differences.md)
CHOOSING = ("nn.ASGD(", "nn.Rprop(")
WORKING = [case for case, fact in FACTS.items() if not isinstance(fact, str)]


@pytest.fixture(scope="module")
def ours(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Every case that is asked for, run under ``msdump run`` by one process."""
    return run(asked(request, "case"), [sys.executable, "-m", "harness.cli", "run"])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", WORKING)
def test_steps_as_mindspore_does(case: str, ours: dict[str, Any]) -> None:
    assert not isinstance(ours[case], str), ours[case]
    assert len(FACTS[case]["steps"]) == 3
    for theirs, given in zip(FACTS[case]["steps"], ours[case]["steps"], strict=True):
        assert list(given) == list(theirs)
        for name, values in theirs.items():
            np.testing.assert_allclose(given[name], values, rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", [case for case in WORKING if case != OTHER_ORDER and not case.startswith(CHOOSING)])
def test_shows_the_kernels_mindspore_shows(case: str, ours: dict[str, Any]) -> None:
    assert _shown(case, ours[case]["kernels"]) == _shown(case, FACTS[case]["kernels"])


def _shown(case: str, kernels: list[str]) -> list[str]:
    """Without the attribute that the assignment of ``AdaMax``'s power has there only (docs/differences.md)."""
    return [k.replace(" {side_effect_mem: Bool(1)}", "") if "AdaMax" in case else k for k in kernels]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", [case for case in FACTS if case not in WORKING])
def test_what_has_no_kernel_on_the_cpu_fails_here_too(case: str, ours: dict[str, Any]) -> None:
    assert isinstance(ours[case], str)


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (nn.RMSProp, "decay", -0.1),
        (nn.RMSProp, "momentum", 1),
        (nn.RMSProp, "epsilon", 0.0),
        (nn.RMSProp, "epsilon", float("nan")),
        (nn.RMSProp, "centered", 1),
        (nn.Adagrad, "accum", -1.0),
        (nn.Adagrad, "accum", 1),
        (nn.Adadelta, "rho", 1.5),
        (nn.Adadelta, "epsilon", -1.0),
        (nn.FTRL, "l1", -1.0),
        (nn.FTRL, "lr_power", 0.5),
        (nn.FTRL, "initial_accum", 1),
        (nn.ProximalAdagrad, "l2", -0.5),
        (nn.Adagrad, "update_slots", None),
    ],
)
def test_bad_settings_are_told(kind: Any, name: str, value: Any) -> None:
    with pytest.raises(HarnessError, match=f"^{kind.__name__}: {name} must be "):
        kind([Parameter(Tensor(np.zeros(2, np.float32)), name="w")], **{name: value})
