"""The emulator's replayer: what it knows of operators, and what it gives."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from harness.framework.runtime.replaying import MOVES, Emulator
from harness.recording.described import Described, Edge
from harness.recording.replayer import Call
from harness.replaying import MINDSPORE, replayer_of

EMULATOR = Emulator()


def call(op: str, *before: Any, outputs: tuple[str, ...] = ("Float32",), **more: Any) -> Call:
    """One execution; what is no array is a constant."""
    edges = tuple(Edge("unknown") if isinstance(each, np.ndarray) else Edge("constant", value=each) for each in before)
    return Call(Described(op, op, inputs=edges), dict(enumerate(before)), outputs, **more)


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("engine", [MINDSPORE, f"{MINDSPORE} 2.10.0"])
def test_mindspores_operators_have_a_replayer(engine: str) -> None:
    assert isinstance(replayer_of(engine), Emulator)


@pytest.mark.parametrize("engine", ["", "MindSporeX", "tinyrt 1.0"])
def test_other_engines_have_not_this_one(engine: str) -> None:
    assert replayer_of(engine) is None


def test_facts() -> None:
    assert EMULATOR.facts(Described("a", "NoSuchOperator")) is None
    for op, mutates, random in (("MatMul", (), False), ("Dropout", (), True), ("Adam", (0, 1, 2), False)):
        facts = EMULATOR.facts(Described("a", op))
        assert facts is not None
        assert (facts.mutates, facts.random) == (mutates, random)


@pytest.mark.parametrize(("op", "more"), [("Transpose", ((1, 0),)), ("Reshape", ((4, 3),)), ("ExpandDims", (0,))])
def test_what_moves_has_the_elements_it_was_given(op: str, more: tuple[Any, ...]) -> None:
    x = drawn(3, 4)
    made = EMULATOR.replay(call(op, x, *more))
    assert op in MOVES
    assert made is not None
    assert sorted(made.outputs[0].reshape(-1)) == sorted(x.reshape(-1))


def test_a_launch_that_updates_gives_what_it_left_and_keeps_what_it_was_given() -> None:
    weight, gradient = drawn(3), drawn(3) + 1
    given = weight.copy()
    made = EMULATOR.replay(call("Assign", given, gradient))
    assert made is not None
    assert given.tobytes() == weight.tobytes()
    assert made.mutated[0].tobytes() == gradient.tobytes()


def test_what_is_not_accepted_proves_nothing() -> None:
    assert EMULATOR.replay(call("MatMul", drawn(3, 5), drawn(4, 2), False, False)) is None
    assert EMULATOR.replay(call("NoSuchOperator", drawn(3))) is None
    missing = call("Add", drawn(3), drawn(3))
    assert EMULATOR.replay(Call(missing.operator, {0: drawn(3)})) is None


def test_the_device_rules_the_arithmetic() -> None:
    a, b = drawn(8, 64), drawn(64, 8)
    made = [EMULATOR.replay(call("MatMul", a, b, False, False, device=name)) for name in ("cpu", "gpu", "unheard of")]
    assert all(made)
    bits = [each.outputs[0].tobytes() for each in made if each is not None]
    assert bits[0] == bits[2]


def test_widened_results_are_not_rounded() -> None:
    a, b = drawn(8, 64), drawn(64, 8)
    made = EMULATOR.widen(call("MatMul", a, b, False, False))
    assert made is not None
    assert made.outputs[0].dtype == np.float64
    assert np.allclose(made.outputs[0], a.astype(np.float64) @ b, rtol=1e-14, atol=1e-13)
    narrow = EMULATOR.widen(call("Cast", a.astype(ml_dtypes.bfloat16)))
    assert narrow is not None
    assert narrow.outputs[0].dtype == np.float64


def test_a_change_is_what_is_computed() -> None:
    x = drawn(4, 6)
    base = call("Softmax", x, -1)
    other = EMULATOR.replay(base.changed({1: 0}))
    assert other is not None
    assert np.allclose(other.outputs[0].sum(0), 1)
