"""Operators of an engine that nobody knows: what is said of them, and what is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.backends.align import lay_beside
from harness.capture import Capture
from harness.compare.policy import Party, judge
from harness.explain import Explanation, Subject, explained, side_of
from harness.recording import Described, Edge
from harness.records import Record, SlotKey

X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
W = np.random.default_rng(1).normal(size=(4,)).astype(np.float32)


def capture(
    op: str, result: Any, attributes: dict[str, Any] | None = None, names: tuple[str, ...] = (), told: bool = True,
    engine: str = "tinyrt 1.0", weight: Any = W,
) -> Capture:  # fmt: skip
    """One operator ``layer1`` that takes data and a weight."""
    given = [("input", 0, X), ("input", 1, weight), ("output", 0, np.asarray(result, np.float32))]
    records = [
        Record(SlotKey(0, 0, 0, "layer1", 0, io, at), op, "Float32", each.shape, values=each) for io, at, each in given
    ]
    made = Capture("net", engine.partition(" ")[0], False, records, rules={"engine": engine})
    if told:
        edges = Edge("argument", "x"), Edge("parameter", "layer1.w")
        made.operators = {(0, 0, "layer1"): Described("layer1", op, "", 0, 0, attributes or {}, edges, names)}
    return made


def told(one: Capture, other: Capture) -> Explanation:
    """Why they differ."""
    parties = [Party(each, each.backend, each.mode, each.emulated) for each in (one, other)]
    judged = judge(*parties, "default", lay=lay_beside)
    made = explained(judged, Subject("run", "golden"), side_of(one), side_of(other))
    assert made is not None
    return made


@pytest.mark.parametrize("described", [False, True])
def test_the_same_name_and_another_type_is_said(described: bool) -> None:
    made = told(capture("Relu", X.clip(0), told=described), capture("Abs", abs(X), told=described))
    assert made.cause is not None
    assert made.cause.text == "replaced: layer1 is of type Abs, expected Relu"
    assert not made.cause.certainty.proven  # nothing can compute these operators again


def test_a_changed_attribute_is_named_without_a_proof() -> None:
    made = told(capture("Scale", X * 2, {"by": 2.0}), capture("Scale", X * 3, {"by": 3.0}))
    assert made.cause is not None
    assert (made.cause.text, made.cause.certainty.proven) == ("by 2 -> 3", False)


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ({"by": 2.0}, {"by": 3.0}, "its tensors agree, by differs"),
        ({"by": np.arange(3)}, {"by": np.arange(3) + 1}, "its tensors agree, by differs"),
        ({"by": 2.0, "to": 1}, {"by": 3.0, "to": 2}, "its tensors agree, by, to differ"),
        ({"by": 2.0}, {"by": 2.0}, "its inputs agree"),
    ],
    ids=["number", "array", "two", "none"],
)
def test_inputs_agree_only_if_attributes_do(one: dict[str, Any], other: dict[str, Any], words: str) -> None:
    made = told(capture("Scale", X * 2, one), capture("Scale", X * 3, other))
    assert made.origin is not None
    assert made.origin.inputs == words


def test_names_of_inputs_are_the_engines_own() -> None:
    other = capture("Softmax", X * W * 2, names=("logits", "temperature"), weight=W * 2)
    made = told(capture("Softmax", X * W, names=("logits", "temperature")), other)
    assert made.origin is not None
    assert "axis" not in made.origin.inputs  # MindSpore's name of that input of its own Softmax
    assert "input.1 (temperature)" in made.origin.inputs
    unnamed = told(capture("Softmax", X * W), capture("Softmax", X * W * 2, weight=W * 2))
    assert unnamed.origin is not None
    assert "(" not in unnamed.origin.inputs


def test_types_of_two_engines_are_not_compared() -> None:
    made = told(capture("Relu", X.clip(0)), capture("relu_v6", X.clip(0, 1), engine="other 2.0"))
    assert made.cause is None or not made.cause.text.startswith("replaced")
