"""A capture from operators that are known after the fact; what others met with captures of their own engines."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import explain
from harness.capture import Capture, CaptureBuilder
from harness.capture.keeping import declared_by
from harness.compare import check
from harness.compare.policy import Judgement, judge
from harness.compare.verdict import Verdict
from harness.errors import RecordingError, StoreError
from harness.gate.lazily import lay_beside
from harness.gate.sides import party_of
from harness.recording import Edge, Value
from harness.records import Record, SlotKey
from harness.report.network import network
from harness.store import GoldenStore, RunData, RunId, update

X = Edge("argument", "x")


def judged(one: Capture, other: Capture) -> tuple[Judgement, str]:
    found = judge(party_of(one), party_of(other), lay=lay_beside)
    subject = explain.Subject("run", "golden")
    explanation = explain.explained(found, subject, explain.side_of(one), explain.side_of(other))
    return found, explain.told(found, subject, explanation)


def test_what_it_keeps() -> None:
    builder = CaptureBuilder("net", "tinyrt 1.0", rank=2)
    builder.operator("net/a", "Mul", {"by": 2.0}, inputs=[X], names=["data"], mutates=[0], source="a.py:1")
    builder.step(7)
    memory = np.float32([1, 2])
    for _ in range(2):
        builder.launch("net/a", [memory], [Value(None, gap="it is lost"), memory * 2])
    memory[:] = 0
    builder.results([Edge("result", "net/a", 1)])
    capture = builder.capture()
    assert (capture.network, capture.backend, capture.engine, capture.borrowed) == (
        "net",
        "tinyrt",
        "tinyrt 1.0",
        False,
    )
    assert [(each.key.execution, each.key.slot_name, each.load().tolist()) for each in capture.records()] == [  # type: ignore[union-attr]
        (0, "input.0", [1, 2]), (0, "output.1", [2, 4]), (1, "input.0", [1, 2]), (1, "output.1", [2, 4]),
    ]  # fmt: skip
    assert {each.key.iteration for each in capture.records()} == {7}
    assert [(gap.key.slot_name, gap.why, gap.op_type) for gap in capture.gaps] == [
        ("output.0", "it is lost", "Mul")
    ] * 2
    (operator,) = capture.operators.values()
    assert (operator.scope, operator.outputs, operator.names) == ("net", (None, ("Float32", (2,))), ("data",))
    assert capture.results == {(2, 0): (Edge("result", "net/a", 1),)}


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda b: b.operator("a", "Mul"), "has an operator of this name"),
        (lambda b: b.operator("", "Mul"), "an operator's name is a text"),
        (lambda b: b.operator("b", 1), "an operator's type is a text"),
        (lambda b: b.operator("b", "Mul", {"x": object()}), "attribute 'x' is"),
        (lambda b: b.operator("b", "Mul", inputs=["a"]), "an input is a recording.Edge"),
        (lambda b: b.launch("c"), "declares no operator of this name"),
        (lambda b: b.launch("a", [np.array([object()])]), "cannot be recorded"),
        (lambda b: b.launch("a", "text"), "str was given"),
        (lambda b: b.step(-1), "a step's label is a number from 0"),
        (lambda b: CaptureBuilder("", "x"), "a capture's network is a text"),
        (lambda b: CaptureBuilder("n", "x", rank=-1), "a rank is a number from 0"),
    ],
)
def test_what_is_refused(call: Any, why: str) -> None:
    builder = CaptureBuilder("net", "tinyrt")
    builder.operator("a", "Mul")
    with pytest.raises(RecordingError, match=why):
        call(builder)


def test_borrowed_arrays_are_said_to_be() -> None:
    builder = CaptureBuilder("net", "tinyrt", copy=False)
    builder.operator("a", "Mul")
    memory = np.float32([1])
    builder.launch("a", [], [memory])
    assert builder.capture().borrowed
    assert next(builder.capture().records()).load() is memory


def test_r11_a_slot_is_not_negative(tmp_path: Path) -> None:
    for field in ("rank", "execution", "slot"):
        key = SlotKey(0, 0, 0, "Default/a", 0, "output", 0)._replace(**{field: -1})
        record = Record(key, "T", "Float32", (2,), values=np.ones(2, np.float32))
        with pytest.raises(StoreError, match="numbers are not negative"):
            update(tmp_path / "a.h5", "n", {RunId("b", "tensor"): RunData([record])})


def test_r11_a_shape_that_the_values_do_not_have_is_a_difference() -> None:
    key, values = SlotKey(0, 0, 0, "Default/a", 0, "output", 0), np.ones(2, np.float32)
    one, lying = (Record(key, "T", "Float32", shape, values=values) for shape in ((2,), (5, 5)))
    for sides in ((one, lying), (lying, one)):
        (slot,) = check([sides[0]], [sides[1]]).slots
        assert slot.verdict is Verdict.DIFFERS
        assert "shape is [" in slot.reason


@pytest.mark.parametrize("kind", ["MatMul", "Softmax", "BatchNorm"])
def test_r12_inputs_have_the_names_that_were_given(kind: str) -> None:
    def capture(weight: Any, names: tuple[str, ...]) -> Capture:
        builder, x = CaptureBuilder("n", "onnx"), np.ones((2, 3), np.float32)
        builder.operator("Default/p", kind, inputs=[X, Edge("parameter", "w")], names=names)
        builder.launch("Default/p", [x, weight], [x @ weight])
        return builder.capture()

    weight = np.arange(12, dtype=np.float32).reshape(3, 4)
    _, text = judged(capture(weight, ()), capture(weight + 1, ()))
    assert not any(name in text for name in ("axis", "input y", "scale differs", " y "))
    assert "input.1" in text
    _, text = judged(capture(weight, ("data", "kernel")), capture(weight + 1, ("data", "kernel")))
    assert "kernel" in text


def test_r14_too_many_axes_is_an_error_of_the_store(tmp_path: Path) -> None:
    key = SlotKey(0, 0, 0, "Default/a", 0, "output", 0)
    record = Record(key, "T", "Float32", (1,) * 33, values=np.zeros((1,) * 33, np.float32))
    with pytest.raises(StoreError, match=r"Default/a output\.0: it has 33 axes; a store holds at most 32"):
        update(tmp_path / "a.h5", "n", {RunId("b", "tensor"): RunData([record])})


def test_r14_captures_and_runs_are_pickled(tmp_path: Path) -> None:
    builder = CaptureBuilder("n", "onnx")
    builder.operator("a", "T", {"by": 2})
    builder.launch("a", [], [np.float32([1])])
    capture = pickle.loads(pickle.dumps(builder.capture()))
    run = RunId("onnx", "tensor")
    update(tmp_path / "a.h5", "n", {run: RunData(list(capture.records()), declared=declared_by(capture))})
    with GoldenStore.open(tmp_path / "a.h5") as store:
        raw = pickle.dumps(store.run(*run))
    again = pickle.loads(raw)
    assert [each.load().tolist() for each in again.records()] == [[1]]
    assert again.operators[0, 0, "a"].attributes == {"by": 2}
    update(tmp_path / "a.h5", "n", {run: RunData(list(capture.records()))})
    with pytest.raises(StoreError, match="is not the one that was pickled"):
        pickle.loads(raw)


@pytest.mark.parametrize("described", [True, False])
def test_r17_another_type_under_one_name_is_said(described: bool) -> None:
    def capture(kind: str, function: Any) -> Capture:
        builder, x = CaptureBuilder("n", "onnx"), np.linspace(-1, 1, 6, dtype=np.float32)
        builder.operator("Default/act", kind, inputs=[X])
        builder.launch("Default/act", [x], [function(x)])
        made = builder.capture()
        made.operators = made.operators if described else {}
        return made

    relu = capture("Relu", lambda x: np.maximum(x, 0))
    _, text = judged(relu, capture("LeakyRelu", lambda x: np.where(x > 0, x, np.float32(0.01) * x)))
    assert "LeakyRelu" in text
    assert "Relu" in text.replace("LeakyRelu", "")
    found, text = judged(relu, capture("LeakyRelu", lambda x: np.maximum(x, 0)))
    assert found.holds is not described  # without a description only a slot that differs says so
    if described:
        assert "Not what it was: Default/act: type is LeakyRelu, expected Relu" in text


def dead(shift: float) -> Capture:
    """Two dead relus, each with a reader of its own."""
    builder, x = CaptureBuilder("n", "e"), np.arange(4, dtype=np.float32)
    zeros = np.maximum(x - 9, 0)
    for name in "AB":
        builder.operator(f"Default/{name}", "Relu", inputs=[X])
        builder.launch(f"Default/{name}", [x], [zeros])
    for name, kind, maker, result in (
        ("C", "Exp", "A", np.exp(zeros) + np.float32(shift)),
        ("D", "Neg", "B", -zeros - 1),
    ):
        builder.operator(f"Default/{name}", kind, inputs=[Edge("result", f"Default/{maker}")])
        builder.launch(f"Default/{name}", [zeros], [result])
    return builder.capture()


def test_r19_edges_are_those_that_were_given(tmp_path: Path) -> None:
    one, other = dead(0), dead(1)
    update(tmp_path / "a.h5", "n", {RunId("e", "tensor"): RunData(list(one.records()), declared=declared_by(one))})
    found, text = judged(one, other)
    graphs = explain.side_of(one).graphs, explain.side_of(other).graphs
    side = network(found.comparison, graphs, None)["sides"][0]
    names = [each[1] for each in side["operators"]]
    pairs = list(zip(side["edges"][::2], side["edges"][1::2], strict=True))
    assert [(names[maker], names[taker]) for maker, taker in pairs] == [
        ("Default/A", "Default/C"),
        ("Default/B", "Default/D"),
    ]
    assert "Default/C" in text
    with GoldenStore.open(tmp_path / "a.h5") as store:
        edges = [each.inputs[0].name for each in store.run("e", "tensor").operators.values()]
    assert edges == ["x", "x", "Default/A", "Default/B"]
