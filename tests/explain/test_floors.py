"""Floors: another order of a sum, or another library's kernel, never exceeds them; a change well above them does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.explain.floors import Floor, agree
from harness.explain.replay import Setting, computed_with_state
from harness.explain.statements import Argument, Statement
from harness.recording import Call, Described, Facts, Replayed, Replayer
from harness.replaying import MINDSPORE, replayer_of

SEEDS = st.integers(0, 2**32 - 1)


def setting(op: str, *values: Any) -> Setting:
    """An operator and what it is given."""
    arguments = [Argument("x", is_constant=not isinstance(v, np.ndarray), value=v) for v in values]
    replayer = replayer_of(MINDSPORE)
    assert replayer is not None
    statement = Statement(op, op, tuple(arguments), {}, know=replayer.facts)
    return Setting(statement, dict(enumerate(values)), {}, replayer=replayer)


def floor_of(op: str, *values: Any, errors: dict[int, Any] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """What an operator gives, and its floor."""
    given = setting(op, *values)
    made = computed_with_state(given)
    assert made is not None
    said = {at: (lambda each=each: each) for at, each in (errors or {}).items()}
    return made[0][0], Floor(given, made, said).of(0)


def drawn(random: np.random.Generator, *shape: int) -> np.ndarray:
    """Numbers of very different sizes, that cancel."""
    values = random.normal(size=shape) * 10.0 ** random.integers(-3, 4, shape)
    return values.astype(np.float32)


@given(SEEDS, st.integers(1, 200))
@settings(max_examples=60, deadline=None)
def test_a_sum_in_another_order_is_below_it(seed: int, count: int) -> None:
    random = np.random.default_rng(seed)
    a, b = drawn(random, 3, count), drawn(random, count, 2)
    made, floor = floor_of("MatMul", a, b, False, False)
    order = random.permutation(count)
    other = np.zeros((3, 2), np.float32)
    for at in order:  # one after another, each rounded
        other = (other + a[:, at, None] * b[None, at, :]).astype(np.float32)
    assert (np.abs(other.astype(np.float64) - made) <= floor).all()
    halves = np.concatenate([a[:, order[::2]] @ b[order[::2]], a[:, order[1::2]] @ b[order[1::2]]]).reshape(2, 3, 2)
    assert (np.abs(halves.sum(0, dtype=np.float32).astype(np.float64) - made) <= floor).all()  # as of two threads


@pytest.mark.parametrize("op", ["Exp", "Tanh", "Sigmoid", "Log", "Sqrt", "Softmax", "GeLU"])
@given(seed=SEEDS)
@settings(max_examples=12, deadline=None)
def test_a_function_computed_more_exactly_is_below_it(op: str, seed: int) -> None:
    x = np.abs(np.random.default_rng(seed).normal(size=(4, 8))).astype(np.float32) + np.float32(0.01)
    more = (-1,) if op == "Softmax" else ()
    made, floor = floor_of(op, x, *more)
    wide = computed_with_state(setting(op, x.astype(np.float64), *more))
    assert wide is not None
    assert (np.abs(wide[0][0] - made) <= floor + np.spacing(np.abs(made))).all()


@given(SEEDS, st.floats(1e-4, 10), st.integers(1, 64))
@settings(max_examples=60, deadline=None)
def test_a_change_well_above_it_does_not_agree(seed: int, size: float, count: int) -> None:
    random = np.random.default_rng(seed)
    a, b = (random.uniform(0.5, 2, shape).astype(np.float32) for shape in ((3, count), (count, 4)))
    made, floor = floor_of("MatMul", a, b, False, False)
    at = tuple(random.integers(0, length) for length in made.shape)
    wrong = made.copy()
    wrong[at] *= np.float32(1 + size)
    assert agree(made, made + 0, "Float32", floor)
    assert not agree(made, wrong, "Float32", floor)


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_a_huge_element_excuses_no_other(seed: int) -> None:
    x = np.random.default_rng(seed).uniform(0.5, 1.5, (3, 5)).astype(np.float32)
    x[0, 0] = 80.0
    made, floor = floor_of("Exp", x)
    rest = np.ones_like(x, bool)
    rest[0, 0] = False
    assert (floor[rest] < 1e-5 * made[rest]).all()


@pytest.mark.parametrize(("op", "more"), [("Transpose", ((1, 0),)), ("ReLU", ()), ("Neg", ())])
def test_what_only_moves_values_rounds_nothing(op: str, more: tuple[Any, ...]) -> None:
    x = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    _, floor = floor_of(op, x, *more)
    assert not floor.any()


@given(SEEDS, st.floats(1e-6, 1e-3))
@settings(max_examples=30, deadline=None)
def test_what_an_input_may_be_off_by_goes_on_once(seed: int, error: float) -> None:
    x = np.random.default_rng(seed).normal(size=(3, 4)).astype(np.float32)
    _, floor = floor_of("Neg", x, errors={0: np.full((3, 4), error)})
    assert np.allclose(floor, error, rtol=0.05, atol=1e-6)


def test_the_floor_of_outputs_is_what_the_replayer_says() -> None:
    """Whatever the engine: nobody else knows its rounding."""

    class Loose(Replayer):
        def facts(self, operator: Described) -> Facts:
            return Facts()

        def replay(self, call: Call) -> Replayed:
            return Replayed((call.before[0] * np.float32(3),))

        def noise(self, call: Call) -> tuple[np.ndarray, ...]:
            return (np.full(call.before[0].shape, 0.25),)

    x = np.float32([1, 2, 3])
    given = replace(setting("Thrice", x), replayer=Loose())
    made = computed_with_state(given)
    assert made is not None
    assert (Floor(given, made, {}).of(0) == 0.25).all()
    given.replayer.noise = lambda _call: None  # type: ignore[union-attr, method-assign]
    said_nothing = Floor(given, made, {}).of(0)
    assert (said_nothing > 0).all()
    assert (said_nothing < 1e-4).all()
