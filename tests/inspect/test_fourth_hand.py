"""What a fourth generator, of another hand, found wrongly told of healthy trainings, and missed in sick ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.inspect import inspect
from tests.inspect.made import Made

_RNG = st.integers(0, 2**32 - 1).map(np.random.default_rng)
_FEW = settings(max_examples=3, deadline=None)


class _Trained:
    """A training whose weights change by what ``updated`` says of their names."""

    def __init__(self, rng: np.random.Generator, weights: dict[str, Any]) -> None:
        self.run, self.rng, self.now = Made(), rng, {name: np.float32(value) for name, value in weights.items()}

    def product(self, name: str, layer: str, x: Any) -> Any:
        weight = self.now[name]
        return self.run.op(f"Default/{layer}/mm-op0", "mm", [x, weight], [x @ weight])

    def updated(self, *frozen: str, late: dict[str, int] | None = None, alike: tuple[str, ...] = ()) -> None:
        for name, weight in self.now.items():
            moved = name not in frozen and self.run.step >= (late or {}).get(name, 0)
            if moved:
                change = self.rng.normal(size=weight.shape[:1] if name in alike else weight.shape) * 0.01
                change = change[:, None] if name in alike else change
                self.now[name] = (weight + change).astype(np.float32)
                self.run.op(f"Default/optimizer-SGD/{name}/add_-op0", "add_", [weight, change], [self.now[name]])
            self.run.parameter(name, self.now[name])


@pytest.mark.parametrize("way", ["around", "late", "alike"])
@given(_RNG)
@_FEW
def test_zeros_that_end_a_branch_are_no_chain_of_zeros(way: str, rng: np.random.Generator) -> None:
    sizes = rng.integers(4, 9, 2)
    weights = {
        "a.weight": rng.normal(size=(6, 6)),
        "b.weight": np.zeros((6, sizes[0])),
        "c.weight": np.zeros((6, sizes[1])),
    }
    made = _Trained(rng, weights)
    for made.run.step in range(5):
        x = rng.normal(size=(8, 6)).astype(np.float32)
        for name, layer in (("a.weight", "a-Linear"), ("b.weight", "b-Linear"), ("c.weight", "c-Linear")):
            made.product(name, layer, x)
        late = {"b.weight": 2, "c.weight": 1} if way == "late" else {}
        made.updated(late=late, alike=("c.weight",) if way == "alike" else ())
    found = inspect(made.run.capture(), ["initialisation", "constant-activation"])
    assert {each.kind for each in found.notes} == {"zero weights"}
    assert [each.kind for each in found.errors] == ([] if way == "around" else ["zero weights"]), found.findings


@pytest.mark.parametrize("adapter", [True, False], ids=["with-adapter", "without"])
@given(_RNG)
@_FEW
def test_a_frozen_weight_beside_which_an_adapter_is_trained_is_meant(adapter: bool, rng: np.random.Generator) -> None:
    wide, other = (int(each) for each in rng.permutation([5, 7, 9])[:2])
    weights = {
        "0.base.weight": rng.normal(size=(wide, other)), "0.A": rng.normal(size=(wide, 2 if adapter else other + 1)),
        "0.B": rng.normal(size=(2, other)), "1.weight": rng.normal(size=(other, 3)),
    }  # fmt: skip
    made = _Trained(rng, weights)
    for made.run.step in range(4):
        x = rng.normal(size=(8, wide)).astype(np.float32)
        base = made.product("0.base.weight", "0-Lora/base-Linear", x)
        low = made.product("0.A", "0-Lora/A-Linear", x)
        made.product("0.B", "0-Lora/B-Linear", np.ascontiguousarray(low[:, :2]))
        made.product("1.weight", "1-Linear", base)
        # The backward pass lays the frozen weight out again: that is no gradient of it.
        turned = np.ascontiguousarray(made.now["0.base.weight"].T)
        made.run.op("Default/0-Lora/base-Linear/t-op0", "t", [made.now["0.base.weight"]], [turned])
        made.run.op("Gradients/Default/0-Lora/base-Linear/t-op0", "t", [turned], [made.now["0.base.weight"]])
        made.updated("0.base.weight")
    found = inspect(made.run.capture(), ["not-trained"]).findings
    assert [each.operator for each in found] == ["0.base.weight"]
    assert found[0].is_error != adapter
    assert ("adapter of low rank" in found[0].text) == adapter


@pytest.mark.parametrize("shape", [(8, 1), (8,)], ids=["column", "selected"])
@given(_RNG)
@_FEW
def test_a_sigmoid_before_a_loss_of_scores_is_told_behind_a_view(
    shape: tuple[int, ...], rng: np.random.Generator
) -> None:
    run, scores = Made(), rng.normal(size=(8, 1)).astype(np.float32)
    shares = run.op("Default/sigmoid-op0", "sigmoid", [scores], [1 / (1 + np.exp(-scores))])
    if len(shape) == 1:
        shares = run.op("Default/select-op0", "select", [shares], [np.ascontiguousarray(shares[:, 0])])
    name = "binary_cross_entropy_with_logits"
    run.op(f"Default/{name}-op0", name, [shares, np.ones(shape, np.float32)], [np.float32(0.5)])
    assert [each.kind for each in inspect(run.capture(), ["loss-input"]).errors] == ["sigmoid before cross entropy"]


@pytest.mark.parametrize("kind", ["new_zeros", "zeros_like", "tanh"])
@given(_RNG)
@_FEW
def test_a_first_state_is_made_of_a_shape_alone(kind: str, rng: np.random.Generator) -> None:
    """A recurrence begins with zeros of its input's shape: no layer has lost what it was given."""
    weights = {"a.weight": (6, 5), "again.weight": (5, 5), "b.weight": (5, 3)}
    made = _Trained(rng, {name: rng.normal(size=shape) for name, shape in weights.items()})
    for made.run.step in range(4):
        x = made.product("a.weight", "a-Linear", rng.normal(size=(8, 6)).astype(np.float32))
        state = made.run.op(f"Default/{kind}-op0", kind, [x], [np.zeros_like(x)])
        again = made.product("again.weight", "again-Linear", state)
        hidden = made.run.op("Default/add-op0", "add", [x, again], [x + again])
        made.product("b.weight", "b-Linear", hidden)
        made.updated()
    told = [each.operator for each in inspect(made.run.capture(), ["constant-activation"]).errors]
    assert told == ([] if kind != "tanh" else ["Default/tanh-op0"])


@pytest.mark.parametrize("trains", [False, True])
@given(_RNG)
@_FEW
def test_a_drawn_mask_that_is_scaled_is_a_dropout_though_no_layer_says_so(
    trains: bool, rng: np.random.Generator
) -> None:
    run = Made()
    for run.step in range(3):
        x = rng.normal(size=(8, 6)).astype(np.float32)
        mask = run.op(
            "Default/bernoulli_-op0", "bernoulli_", [], [(np.arange(48) % 2).astype(np.float32).reshape(8, 6)]
        )
        half = np.float32(0.5)
        scaled = run.op("Default/div_-op0", "div_", [mask, half], [mask / half])
        run.op("Default/mul-op0", "mul", [x, scaled], [x * scaled])
        if trains:
            run.op("Gradients/Default/mul-op0", "mul", [x, scaled], [x * scaled])
    found = inspect(run.capture(), ["dropout"]).errors
    assert [each.operator for each in found] == ([] if trains else ["Default/mul-op0"])
