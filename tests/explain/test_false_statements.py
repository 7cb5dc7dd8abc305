"""The 19 kinds of false statement that explanations made before: each must say the truth now, or nothing.

Tests have the number of what they hold. 1 to 8: an operator of one side was overlooked (pooling, GELU, mask,
scale, residual, bias, loss, activation); 9: state updated in place was called a cause; 10: a gradient that cancels
was called bfloat16; 11 and 12: values and names of constants were left out; 13 and 14: a weight did not lead, and
what it looks like was not said; 15: a tolerance far off was advised; 16: rounding and kinds of kernels' faults
were not recognised; 17: another optimizer was blamed on a parameter; 18: stale values and 19: exchanged parameters
were not told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from harness.capture import Capture
from harness.explain import Certainty, Explanation
from harness.explain.patterns import Pair, find_pattern
from harness.testing.faults.kernels import KERNELS, Strike
from harness.testing.faults.networks import Network
from harness.testing.faults.networks import draw as drawn
from harness.testing.faults.roads import captured
from tests.explain.runs import explained, told

#: settings that make every fault below possible
BASE: dict[str, dict[str, Any]] = {
    "cnn": {
        "norm": True, "norm_first": True, "act": "relu", "pool": "max", "loss": "cross", "optimizer": "momentum",
        "rate": 0.1, "conv_bias": True, "channels": 4, "size": 6, "batch": 3, "bn_eps": 1e-5, "classes": 4,
    },
    "mlp": {
        "norm": True, "act": "relu", "drop": 0.2, "loss": "mse", "optimizer": "adam", "depth": 2, "width": 8,
        "inputs": 8, "batch": 4, "reduction": "mean", "classes": 4,
    },
    "attention": {"masked": False},
    "residual": {"skip": True, "depth": 1, "norm": False},
}  # fmt: skip


def _network(family: str) -> Network:
    seed = next(seed for seed in range(200) if drawn(seed).family == family)
    return replace(drawn(seed).having(**BASE[family]), steps=1)


@lru_cache
def _golden(family: str) -> tuple[Network, Capture]:
    network = _network(family)
    return network, captured(network)


def _with(family: str, **settings: Any) -> Explanation:
    network, golden = _golden(family)
    return explained(golden, captured(network.having(**settings)))


def _struck(family: str, kind: str, operator: str) -> Explanation:
    network, golden = _golden(family)
    name = next(r.key.operator for r in golden.records() if operator in r.key.operator and r.key.io == "output")
    chosen = next(each for each in KERNELS if each.name == kind)
    return explained(golden, captured(network, Strike(chosen, name, 0, 3)))


def _text(explanation: Explanation) -> str:
    assert explanation.cause is not None
    return explanation.cause.text


# -- 1: what stands on one side only made the input --------------------------------------------------------------------
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("family", "settings", "words"),
    [
        pytest.param("cnn", {"pool": "avg"}, ("replaced", "MaxPool", "AvgPool"), id="1-pooling"),
        pytest.param("mlp", {"act": "gelu"}, ("replaced", "ReLU", "GELU"), id="2-gelu"),
        pytest.param("attention", {"masked": True}, ("inserted", "Add"), id="3-mask"),
        pytest.param("mlp", {"extra": "scale"}, ("inserted", "Mul"), id="4-scale"),
        pytest.param("residual", {"skip": False}, ("removed", "Add"), id="5-residual"),
        pytest.param("cnn", {"conv_bias": False}, ("removed", "BiasAdd"), id="6-bias"),
        pytest.param("mlp", {"loss": "l1"}, ("replaced", "MSELoss", "L1Loss"), id="7-loss"),
        pytest.param("cnn", {"act": "tanh"}, ("replaced", "ReLU", "Tanh"), id="8-activation"),
        pytest.param("mlp", {"drop": 0.0}, ("removed", "Dropout"), id="dropout"),
    ],
)
def test_an_operator_of_one_side_is_named(family: str, settings: dict[str, Any], words: tuple[str, ...]) -> None:
    explanation = _with(family, **settings)
    text = " ".join((_text(explanation), explanation.origin.operator if explanation.origin else ""))
    assert all(word in text for word in words), text
    assert "no recorded operator made" not in text


# -- 2: state updated in place is a consequence ------------------------------------------------------------------------
def test_9_a_setting_is_the_cause_and_not_the_state_it_changed() -> None:
    explanation = _with("cnn", bn_eps=1e-2)
    assert _text(explanation) == "epsilon 1e-05 -> 0.01"
    assert explanation.cause is not None
    assert explanation.cause.certainty is Certainty.REPLAY
    assert not any("moving_mean" in each for each in explanation.others)


# -- 4: permuted, shifted, factor and zero of what was given -----------------------------------------------------------
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda w: w * 2, "times 2"),
        (lambda w: -w, "other sign"),
        (np.zeros_like, "every element is 0"),
        (lambda w: w[[1, 2, 0, *range(3, len(w))]], "another order"),
        (lambda w: np.flip(w, 0), "back to front"),
        (lambda w: np.roll(w, 1, 1), "moved by 1 along axis 1"),
        (lambda w: w.T, "axes in the order [1, 0]"),
        (lambda w: w.astype(np.float32).astype(np.float16), "rounded to float16"),
    ],
)
def test_14_what_a_given_weight_looks_like(change: Callable[[Any], Any], words: str) -> None:
    network, golden = _golden("mlp")
    explanation = explained(golden, captured(replace(network, weights={"layers.1.weight": change})))
    assert _text(explanation).startswith("parameter layers.1.weight differs from the start")
    assert words in _text(explanation)


def test_19_another_parameter_is_told_by_its_bits() -> None:
    network, golden = _golden("mlp")
    stolen = next(
        r
        for r in golden.records()
        if r.key.slot_name == "input.1" and "layers-CellList/0-Dense/MatMul" in r.key.operator
    )
    values = stolen.load()
    assert values is not None
    explanation = explained(golden, captured(replace(network, weights={"layers.1.weight": lambda _: values})))
    assert "layers.1.weight" in _text(explanation)
    assert "layers.0.weight" in _text(explanation)


# -- 5: numbers and names of constants ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("family", "settings", "text"),
    [
        ("cnn", {"rate": 0.05}, "learning_rate 0.1 -> 0.05"),
        ("mlp", {"eps": 1e-2}, "-> 0.01"),
        ("cnn", {"momentum": 0.5}, "momentum"),
        ("mlp", {"drop": 0.4}, "keep_prob 0.8 -> 0.6"),
    ],
)
def test_11_and_12_a_constant_has_its_name_and_both_values(family: str, settings: dict[str, Any], text: str) -> None:
    assert text in _text(_with(family, **settings))


def test_13_a_weight_drawn_anew_leads() -> None:
    network, golden = _golden("mlp")
    anew = {"out.weight": lambda w: np.random.default_rng(3).normal(size=w.shape)}
    text = told(golden, captured(replace(network, weights=anew)))
    assert "out.weight" in text.split("\n")[1]


# -- 7: harmful advice -------------------------------------------------------------------------------------------------
def test_15_no_tolerance_far_from_the_one_in_force_is_named() -> None:
    network, golden = _golden("cnn")
    text = told(golden, captured(network.having(rate=0.05)), "default")
    assert "would pass" not in text
    assert "Also failing" not in text


# -- 8: kinds that were not recognised ---------------------------------------------------------------------------------
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("family", "kind", "operator"),
    [
        ("cnn", "zeroed channel", "one-_Block/conv-Conv2d/Conv2D"),
        ("cnn", "border only", "one-_Block/conv-Conv2d/Conv2D"),
        ("cnn", "clipped", "one-_Block/conv-Conv2d/BiasAdd"),
        ("cnn", "whole-number grid", "fc-Dense/MatMul"),
        ("mlp", "flushed", "0-Dense/BiasAdd"),
        ("mlp", "another mask", "Dropout-op0"),
        ("mlp", "narrower sum", "1-Dense/MatMul"),
        ("mlp", "NaN source", "1-Dense/MatMul"),
        ("mlp", "narrower input", "1-Dense/MatMul"),
    ],
)
def test_16_kinds_that_were_not_recognised(family: str, kind: str, operator: str) -> None:
    explanation = _struck(family, kind, operator)
    assert explanation.cause is not None
    assert explanation.cause.kind == kind, explanation.cause.text
    assert explanation.origin is not None
    assert operator in explanation.origin.operator


@pytest.mark.parametrize(
    ("seed", "operator"), [(172783558, "0-Dense/MatMul-op0"), (1769518422, "conv-Conv2d/Conv2D-op0")]
)
def test_19_a_parameter_of_zeros_is_not_blamed(seed: int, operator: str) -> None:
    """A state of zeros, of a weight's shape: a kernel that gives zeros did not take it."""
    network = drawn(seed)
    golden = captured(network)
    name = next(r.key.operator for r in golden.records() if r.key.operator.endswith(operator))
    zero = next(kind for kind in KERNELS if kind.name == "zero")
    explanation = explained(golden, captured(network, Strike(zero, name, 1, 0)))
    assert explanation.cause is not None
    assert explanation.cause.kind == "zero", explanation.cause.text


def test_16_rounding_is_called_rounding() -> None:
    network, golden = _golden("mlp")
    name = next(r.key.operator for r in golden.records() if "1-Dense/MatMul" in r.key.operator)
    noise = replace(KERNELS[0], output=lambda _, y: np.nextafter(y, np.inf, dtype=y.dtype))
    explanation = explained(golden, captured(network, Strike(noise, name, 0, 0)))
    assert explanation.cause is not None
    assert explanation.cause.kind == "rounding"
    assert not explanation.cause.certainty.proven


def test_10_a_gradient_that_cancels_is_no_narrower_type() -> None:
    random = np.random.default_rng(5)
    tiny, other = ((random.integers(-3, 4, 24) * 2.0**-28).astype(np.float32) for _ in range(2))
    finding = find_pattern(Pair(tiny, other))
    assert finding is None or finding.kind != "narrower type", finding


def test_17_another_optimizer_is_named() -> None:
    assert _text(_with("mlp", optimizer="adamw")).startswith("replaced: optimizer: Adam -> AdamWeightDecay")


def test_18_a_stale_value_is_told() -> None:
    golden = captured(replace(_golden("mlp")[0], steps=2))
    name = next(r.key.operator for r in golden.records() if "1-Dense/MatMul" in r.key.operator)
    first = next(r for r in golden.records() if (r.key.operator, r.key.iteration, r.key.io) == (name, 0, "output"))
    records = [
        replace(r, values=first.values, digest=first.digest)
        if (r.key.operator, r.key.iteration, r.key.io) == (name, 1, "output")
        else r
        for r in golden.records()
    ]
    text = _text(explained(golden, replace(golden, source=records)))
    assert text == "output.0 has the bits expected in iteration 0: a stale value"


def test_where_nothing_is_known_nothing_is_said() -> None:
    network, golden = _golden("mlp")
    name = next(r.key.operator for r in golden.records() if "1-Dense/MatMul" in r.key.operator)
    odd = replace(KERNELS[0], output=lambda random, y: y + random.normal(size=y.shape).astype(y.dtype))
    explanation = explained(golden, captured(network, Strike(odd, name, 0, 0)))
    assert explanation.cause is None
    assert explanation.origin is not None
    assert explanation.origin.operator == name
