"""Where a difference is new, carried or cancelled, what made it, and what it feeds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from harness.compare import Comparison, check
from harness.compare.spread import MEANING, Role, noise, spread
from harness.recording.described import Described, Edge
from harness.records import Record
from tests.compare.helpers import operator
from tests.store.helpers import record

RNG = np.random.default_rng(3)
X, W, B = (RNG.standard_normal(shape).astype(np.float32) for shape in ((4, 3), (3, 5), (5,)))


def network(
    weight: Any = W, product: Any = None, biased: Any = None, active: Any = None, iteration: int = 0
) -> list[Record]:
    """A dense layer: MatMul, BiasAdd, ReLU, Sign; each output may be replaced, and is fed on."""
    product = X @ weight if product is None else product
    biased = product + B if biased is None else biased
    active = np.maximum(biased, 0) if active is None else active
    return [
        record(weight, "fc.weight", "output", 0, op_type="Parameter", iteration=iteration),
        *operator("Default/MatMul-op0", [X, weight], [product], "MatMul", iteration=iteration),
        *operator("Default/BiasAdd-op0", [product, B], [biased], "BiasAdd", iteration=iteration),
        *operator("Default/ReLU-op0", [biased], [active], "ReLU", iteration=iteration),
        *operator("Default/Sign-op0", [active], [np.sign(active)], "Sign", iteration=iteration),
    ]


def roles(comparison: Comparison) -> dict[str, Role]:
    return {step.where.operator.rpartition("/")[2]: step.role for step in spread(comparison).steps}


def of(comparison: Comparison, name: str) -> Any:
    return next(step for step in spread(comparison).steps if step.where.operator.endswith(name))


def test_equal_runs_agree_everywhere() -> None:
    assert set(roles(check(network(), network())).values()) == {Role.AGREES}


def test_new_carried_and_cancelled() -> None:
    comparison = check(network(), network(product=(X @ W) * np.float32(1.01)))
    assert roles(comparison) == {
        "fc.weight": Role.AGREES, "MatMul-op0": Role.NEW, "BiasAdd-op0": Role.CARRIED, "ReLU-op0": Role.CARRIED,
        "Sign-op0": Role.CANCELLED,
    }  # fmt: skip


def test_a_weight_that_differs_is_given() -> None:
    comparison = check(network(), network(weight=W * np.float32(2)))
    assert roles(comparison)["fc.weight"] is Role.GIVEN
    assert roles(comparison)["MatMul-op0"] is Role.CARRIED


def test_a_slot_of_one_side_is_absent() -> None:
    comparison = check(network(), network()[:-2])
    assert roles(comparison)["Sign-op0"] is Role.ABSENT


def test_outputs_alone_leave_the_cause_open() -> None:
    outputs = [r for r in network() if r.key.io == "output"]
    others = [r for r in network(product=X @ W * 2) if r.key.io == "output"]
    found = roles(check(outputs, others))
    assert found["MatMul-op0"] is Role.UNKNOWN  # its inputs were not compared
    assert set(found.values()) <= {Role.UNKNOWN, Role.AGREES}


def test_what_feeds_what() -> None:
    comparison = check(network(), network(product=X @ W * 2))
    assert [made.operator for made in of(comparison, "BiasAdd-op0").fed_by] == ["Default/MatMul-op0"]
    assert [used.operator for used in of(comparison, "MatMul-op0").feeds] == ["Default/BiasAdd-op0"]


def test_noise_and_growth() -> None:
    comparison = check(network(), network(product=X @ W * np.float32(1.5)))
    step = of(comparison, "MatMul-op0")
    assert step.noise_in == 0
    assert step.noise_out == pytest.approx(0.5)
    assert step.growth is None
    carried = of(comparison, "BiasAdd-op0")
    assert carried.growth == pytest.approx(carried.noise_out / 0.5)
    assert noise(None) is None
    slot = check([record(X)], [record(np.full_like(X, np.nan))]).slots[0]
    assert noise(slot.measurement) == math.inf


def test_every_role_has_a_meaning() -> None:
    assert set(MEANING) == set(Role)


def test_numbers_whose_squares_are_no_numbers_are_shown_all_the_same() -> None:
    pair = [record(np.array([size, 1]), "X", "output") for size in (1e200, 1.1e200)]
    comparison = check(pair[:1], pair[1:])
    measured = comparison.slots[0].measurement
    assert measured is not None
    assert (noise(measured), measured.snr) == (math.inf, None)


def test_a_weight_that_an_optimizer_changed_before_it_was_dumped_is_named() -> None:
    def step(weight: Any) -> list[Record]:
        after = weight - np.float32(0.1)
        return [
            *operator("Default/MatMul-op0", [X, weight], [X @ weight], "MatMul"),
            *operator("Default/AssignSub-op0", [after, np.float32(0.1)], [after], "AssignSub"),
            record(after, "fc.weight", "output", 0, op_type="Parameter"),
        ]

    comparison = check(step(W), step(W[::-1].copy()))
    assert roles(comparison)["fc.weight"] is Role.CARRIED


def training(grad: Any, moment: Any = 0, constant: float = 2) -> list[Record]:
    """A scaled gradient that updates a weight and its moment in place, which the dump shows as they are afterwards."""
    scaled = np.asarray(grad, np.float32) * np.float32(constant)
    moment = np.float32(0.9) * np.full(3, moment, np.float32) + scaled
    weight, rate = np.arange(3, dtype=np.float32) - np.float32(0.1) * moment, np.float32(0.1)
    return [
        *operator("Default/Grad-op0", [np.arange(3, dtype=np.float32)], [grad], "Grad"),
        *operator("Default/Mul-op0", [grad, np.float32(constant)], [scaled], "Mul"),
        *operator("Default/ApplyMomentum-op0", [weight, moment, rate, scaled], [weight], "ApplyMomentum"),
        *(
            record(value, name, "output", 0, op_type="Parameter")
            for name, value in (("w", weight), ("moments.w", moment), ("rate", rate))
        ),
    ]


GRAD = np.array([1, 2, 3], np.float32)


def test_what_an_optimizer_keeps_carries_the_gradients_difference() -> None:
    comparison = check(training(GRAD), training(GRAD * np.float32(1.5)))
    assert roles(comparison) == {
        "Grad-op0": Role.NEW, "Mul-op0": Role.CARRIED, "ApplyMomentum-op0": Role.CARRIED, "w": Role.CARRIED,
        "moments.w": Role.CARRIED, "rate": Role.AGREES,
    }  # fmt: skip


def test_a_moment_that_differs_by_itself_is_given() -> None:
    comparison = check(training(GRAD), training(GRAD, moment=1))
    assert roles(comparison)["moments.w"] is Role.GIVEN
    assert roles(comparison)["Mul-op0"] is Role.AGREES


def test_the_taker_of_another_constant_is_given() -> None:
    comparison = check(training(GRAD), training(GRAD, constant=3))
    assert roles(comparison) == {
        "Grad-op0": Role.AGREES, "Mul-op0": Role.GIVEN, "ApplyMomentum-op0": Role.CARRIED, "w": Role.CARRIED,
        "moments.w": Role.CARRIED, "rate": Role.AGREES,
    }  # fmt: skip


def test_a_maker_of_an_earlier_iteration_feeds_nothing_in_this_one() -> None:
    """An optimizer makes its state once: what its engine states of the state's input holds for the first step only."""
    maker, update = "Default/zeros_like-op0", "Default/adam-op0"
    known = {
        (0, 0, update): Described(update, "adam", inputs=(Edge("result", maker),)),
        (0, 0, maker): Described(maker, "zeros_like"),
    }

    def run(scale: float) -> list[Record]:
        state = np.zeros(3, np.float32)
        made = operator(maker, [], [state], "zeros_like")
        for iteration in range(2):
            after = state + X[0] * np.float32(scale)
            made += operator(update, [state], [after], "adam", iteration=iteration)
            state = after
        return made

    comparison = replace(check(run(1), run(2)), described=(lambda: known, lambda: known))
    steps = {step.where: step for step in spread(comparison).steps}
    assert len(steps) == 3
    for step in steps.values():
        assert {*step.fed_by, *step.feeds} <= set(steps)
    last = next(step for where, step in steps.items() if where.iteration == 1)
    assert [where.iteration for where in last.fed_by] == [0], "the bits tell what made the second step's state"
