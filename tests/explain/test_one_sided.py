"""Iterations and parameters that one side alone has are named as that; parameters that changed places, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import harness
from harness import Tensor, nn
from harness.explain import Certainty, one_sided
from harness.explain.case import Case
from tests.explain.runs import captured, explained, side


def program(
    steps: int = 1, bias: bool = True, rates: tuple[float, float] = (0.1, 0.2), order: int = 1
) -> Callable[[], Any]:
    """A training of two layers, each with a learning rate of its own."""

    def run() -> None:
        harness.set_seed(1)
        first, last = nn.Dense(2, 3, has_bias=bias), nn.Dense(3, 2)
        network = nn.SequentialCell(first, last)
        network.update_parameters_name("net.")
        pairs = zip((first, last), rates, strict=True)
        groups = [
            {"params": layer.trainable_params(), "lr": rate, "weight_decay": 0.01 if layer is last else 0.0}
            for layer, rate in pairs
        ][::order]
        step = nn.TrainOneStepCell(nn.WithLossCell(network, nn.MSELoss()), nn.Momentum(groups, 0.1, 0.9)).set_train()
        for _ in range(steps):
            step(Tensor(np.ones((4, 2), np.float32)), Tensor(np.ones((4, 2), np.float32)))

    return run


@settings(max_examples=6, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=2, max_size=2, unique=True))
def test_iterations_that_one_side_lacks(steps: list[int]) -> None:
    explanation = explained(*(captured(program(each)) for each in steps))
    cause, origin = explanation.cause, explanation.origin
    assert cause is not None
    assert origin is not None
    side = "the run" if steps[1] < steps[0] else "the golden"
    assert cause.text.startswith(f"{side} lacks iteration")
    assert f"the run {steps[1]}" in cause.text
    assert cause.certainty is Certainty.BITS
    assert origin.key.iteration == min(steps)
    assert origin.what == ("missing" if steps[1] < steps[0] else "unexpected")


def test_a_fault_within_the_common_iterations_is_told() -> None:
    cause = explained(captured(program(2)), captured(program(1, rates=(0.1, 0.3)))).cause
    assert cause is not None
    assert "learning_rate" in cause.text
    assert "lacks" not in cause.text


def test_exchanged_parameters() -> None:
    """Groups of an optimizer in another order: each rate is called as the other one."""
    cause = explained(captured(program()), captured(program(order=-1))).cause
    assert cause is not None
    assert cause.text == "parameters learning_rate_group_0 and learning_rate_group_1 have each other's values"
    other = explained(captured(program()), captured(program(rates=(0.2, 0.3)))).cause
    assert other is not None
    assert "each other" not in other.text


@pytest.mark.parametrize("more", [False, True])
def test_a_parameter_that_one_side_lacks(more: bool) -> None:
    """An optimizer's own state of it is not told apart."""
    golden, run = (side(captured(program(bias=each))) for each in ((False, True) if more else (True, False)))
    case = Case(golden, run, golden.order[0], run.order[0], {}, {}, {})
    assert one_sided.parameters(case) == [f"The {'golden' if more else 'run'} lacks parameter net.0.bias"]
    assert one_sided.parameters(Case(golden, golden, golden.order[0], golden.order[0], {}, {}, {})) == []
