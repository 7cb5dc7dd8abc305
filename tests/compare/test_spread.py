"""Where a difference is new, carried, cancelled; what made it and what it feeds; what it looks like."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from harness.compare import Comparison, check
from harness.compare.divergence import Execution
from harness.compare.hints import hints
from harness.compare.overview import brief, overview
from harness.compare.spread import MEANING, Role, Spread, noise, spread
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
    assert [hint.kind for hint in hints(comparison, spread(comparison), Execution(0, 0, 0, "fc.weight", 0))] == [
        "constant factor", "different weight or input",
    ]  # fmt: skip


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


def test_ranks_and_iterations_have_first_steps() -> None:
    golden = [*network(), *network(iteration=1)]
    comparison = check(golden, [*network(), *network(iteration=1, biased=X @ W)])
    first = spread(comparison).first_by_iteration()
    assert list(first) == [1]
    assert first[1].where.operator == "Default/BiasAdd-op0"
    assert list(spread(comparison).first_by_rank()) == [0]


def test_every_role_has_a_meaning() -> None:
    assert set(MEANING) == set(Role)


def hint_of(comparison: Comparison, name: str, inputs: list[Record] = []) -> list[tuple[str, str]]:  # noqa: B006
    made: Spread = spread(comparison)
    where = next(step.where for step in made.steps if step.where.operator.endswith(name))
    return [(hint.kind, hint.evidence) for hint in hints(comparison, made, where, inputs)]


BIG = RNG.standard_normal((6, 7)).astype(np.float32)
NAN = BIG.copy()
NAN[2, 3] = np.nan


@pytest.mark.parametrize(
    ("found", "kind", "words"),
    [
        (NAN, "NaN source", "1 NaN first at [2, 3]"),
        (np.zeros_like(BIG), "constant factor", "every element is 0"),
        (-BIG, "constant factor", "other sign"),
        (BIG * np.float32(1.25), "constant factor", "times 1.25"),
        (BIG + np.float32(0.5), "constant offset", "plus 0.5"),
        (BIG + np.arange(7, dtype=np.float32), "constant offset", "axis 1 only"),
        (BIG.T.reshape(6, 7), "permuted", "[1, 0]"),
        (RNG.permutation(BIG.reshape(-1)).reshape(6, 7), "permuted", "another order"),
        (np.roll(BIG, 1, axis=0), "shifted", "moved by 1 along axis 0"),
        (BIG.astype(np.float16).astype(np.float32), "narrower type", "float16"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_hints(found: Any, kind: str, words: str) -> None:
    comparison = check([record(BIG, "Default/X-op0", "output")], [record(found, "Default/X-op0", "output")])
    got = hint_of(comparison, "X-op0")
    assert [name for name, _ in got] == [kind]
    assert words in got[0][1]


def pair_of(expected: Any, found: Any) -> Comparison:
    return check([record(expected, "X", "output")], [record(found, "X", "output")])


NARROWED = BIG.astype(ml_dtypes.bfloat16).astype(np.float32)
STRIPES = np.zeros_like(BIG)
STRIPES[-1] = 5
CHANGED_STRIPES = np.zeros_like(BIG)
CHANGED_STRIPES[0] = BIG[0]


@pytest.mark.parametrize(
    ("expected", "found", "words"),
    [
        (BIG * 0, -(np.abs(BIG) * 0), None),
        (np.where(BIG > 1, BIG, 0), np.where(BIG > 1, BIG, np.float32(-0.0)), None),
        (np.where(BIG > 1, np.nan, BIG), np.where(BIG > 1, np.float32(65504), BIG), None),
        (STRIPES, CHANGED_STRIPES, None),
        (BIG.astype(np.float64) * 1e200, BIG.astype(np.float64) * 1.5e200, "found is expected times 1.5"),
        (BIG, NARROWED, "is one bfloat16 has"),
        (BIG, NARROWED * np.float32(1.000001), "about the rounding of bfloat16"),
    ],
    ids=["zeros", "signs of zeros", "a number for NaN", "stripes", "too large", "bfloat16", "about bfloat16"],
)
def test_what_it_looks_like_or_does_not(expected: Any, found: Any, words: str | None) -> None:
    (evidence,) = [text for _, text in hint_of(pair_of(expected, found), "X")] or [None]
    assert evidence is None if words is None else evidence is not None and words in evidence


@pytest.mark.parametrize("size", [0.0003, 0.001, 0.003])
def test_multiplied_noise_is_no_rounding(size: float) -> None:
    values, noise = np.random.default_rng(5).standard_normal((2, 60, 70))
    large = values.astype(np.float32)
    noisy = large * (1 + size * noise).astype(np.float32)
    assert hint_of(pair_of(large, noisy), "X") == []


def test_numbers_whose_squares_are_no_numbers_are_shown_all_the_same() -> None:
    comparison = pair_of(np.array([1e200, 1]), np.array([1.1e200, 1]))
    measured = comparison.slots[0].measurement
    assert measured is not None
    assert (noise(measured), measured.snr) == (math.inf, None)
    assert any("noise inf" in line for line in overview(spread(comparison), ()))


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
    assert ("different weight or input", "it differs, and no captured operator made it") in hint_of(
        comparison, "MatMul-op0"
    )
    assert [h.slot.slot_name for h in hints(comparison, spread(comparison), Execution(0, 0, 0, "Default/MatMul-op0", 0))
            if h.kind == "different weight or input"] == ["input.1"]  # fmt: skip


def test_saturation() -> None:
    expected = np.array([1e5, 2.0, -np.inf], np.float32)
    found = np.array([65504, 2.0, -65504], np.float32)
    comparison = check([record(expected, "X", "output")], [record(found, "X", "output")])
    assert hint_of(comparison, "X")[0] == (
        "saturation",
        "2 elements stop at 65504, the largest float16, where more is expected",
    )


def test_a_dropped_bias_is_named() -> None:
    inputs = [r for r in network() if r.key.operator.endswith("BiasAdd-op0") and r.key.io == "input"]
    comparison = check(network(), network(biased=X @ W))
    assert (
        hint_of(comparison, "BiasAdd-op0", inputs)[0][1] == "it has the bits of its own input.0: nothing was done to it"
    )
    assert ("constant offset", "the difference is input.1, as if it was not added") in hint_of(
        comparison, "BiasAdd-op0", inputs
    )


def test_a_stale_value_is_named() -> None:
    later = W + np.float32(1)
    golden = [*network(), *network(weight=later, iteration=1)]
    comparison = check(golden, [*network(), *network(weight=W, iteration=1)])
    where = Execution(0, 0, 1, "fc.weight", 0)
    found = [(hint.kind, hint.evidence) for hint in hints(comparison, spread(comparison), where)]
    assert ("stale value", "it has the bits expected in iteration 0") in found


def test_noise_looks_like_nothing() -> None:
    found = (BIG + RNG.standard_normal(BIG.shape) * 1e-6).astype(np.float32)
    comparison = check([record(BIG, "X", "output")], [record(found, "X", "output")])
    assert hint_of(comparison, "X") == []


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
    assert not [h for h in hints(comparison, spread(comparison), Execution(0, 0, 0, "w", 0)) if "weight" in h.kind]


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


def test_a_failing_test_says_what_it_looks_like_and_what_takes_it() -> None:
    comparison = check(network(), network(product=(X @ W) * np.float32(2)))
    course, where = spread(comparison), Execution(0, 0, 0, "Default/MatMul-op0", 0)
    assert brief(course, hints(comparison, course, where), where) == [
        "  looks like: constant factor (output.0): found is expected times 2",
        "  feeds BiasAdd-op0; operators in all: 1 new, 3 carried",
    ]
    last = Execution(0, 0, 0, "Default/ReLU-op0", 0)
    alone = check(network()[:-2], network(active=np.full((4, 5), 3, np.float32))[:-2])
    assert brief(spread(alone), (), last)[-1].startswith("  nothing captured takes it; ")


def test_where_the_noise_grows_is_told() -> None:
    one, other = network(), network(product=(X @ W) + np.float32(1e-4))
    course = spread(check(one, other))
    (line,) = [line for line in overview(course, ()) if "grows most" in line] or [""]
    grown = [step for step in course.steps if step.growth is not None and step.growth >= 2]
    assert bool(line) is bool(grown)
    assert all(f"{step.growth:.3g} times" in line for step in grown)
