"""A capture: operators with edges and attributes, results, gaps, environment; by name, pickled, as a table."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.capture import Capture, CaptureObserver
from harness.capture import declared as declaring
from harness.recording import Engine, Operator, Parameter, Recording, Result, TensorSpec, Value
from harness.recording.described import Edge
from harness.recording.operands import constant

FLOATS = TensorSpec(dtypes.float32, (2,))


def recorded(scale: float = 2.0, gap: bool = False, steps: int = 1) -> Capture:
    """A graph of two operators under a runtime of its own: y = x * w, z = y + 1."""
    observer = CaptureObserver()
    recording = Recording(Engine("tinyrt", "1.0"), observers=[observer])
    weight, data = Parameter("fc1.weight", FLOATS, True), Parameter("x", FLOATS, False)
    times = Operator("Mul", "Net/fc1", {"scale": scale, "axes": (0, 1)}, [data, weight], [FLOATS], mutates=())
    plus = Operator("Add", "Net/fc2", {}, [times, constant(1.0)], [FLOATS], mutates=())
    with recording.compiling("Net", ["x"]) as compiling:
        graph = compiling.graph([times, plus], outputs=[Result(plus)])
    x, w = np.float32([1, 2]), np.float32([3, 4])
    for _ in range(steps):
        with recording.step(graph) as step:
            with step.launch(times, [x, w]) as launch:
                launch.done([x * w])
            given = Value(None, dtypes.float32, (2,), gap="it lies elsewhere") if gap else x * w
            with step.launch(plus, [given]) as launch:
                launch.done([x * w + 1])
    recording.close()
    return observer.capture("Net", "tinyrt", emulated=False)


def test_operators_by_rank_graph_and_name() -> None:
    capture = recorded()
    times, plus = capture.operators.values()
    assert list(capture.operators) == [(0, 0, "Net/fc1/Mul-op0"), (0, 0, "Net/fc2/Add-op0")]
    assert (times.type, times.scope, dict(times.attributes)) == ("Mul", "Net/fc1", {"scale": 2.0, "axes": (0, 1)})
    assert times.inputs == (Edge("argument", "x", 0), Edge("parameter", "fc1.weight"))
    assert plus.inputs == (Edge("result", "Net/fc1/Mul-op0", 0), Edge("constant", value=1.0))
    assert plus.outputs == (("Float32", (2,)),)
    assert dict(capture.results) == {(0, 0): (Edge("result", "Net/fc2/Add-op0", 0),)}
    assert capture.engine == "tinyrt 1.0"
    assert {"numpy", "python", "threads"} <= set(capture.environment)
    assert capture.borrowed is False


def test_nobody_describes_what_nobody_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declaring, "described", lambda *_, **__: pytest.fail("described"))
    monkeypatch.setattr("harness.environment.facts", lambda *_: pytest.fail("facts"))
    capture = recorded()
    assert len(list(capture.records())) == 5
    assert (capture.gaps, capture.lost) == ([], [])


def test_a_gap_is_a_slot_and_no_lost_file() -> None:
    capture = recorded(gap=True)
    (gap,) = capture.gaps
    assert (gap.key.operator, gap.key.slot_name, gap.op_type) == ("Net/fc2/Add-op0", "input.0", "Add")
    assert gap.why == "it lies elsewhere"
    assert capture.lost == []
    assert gap.key not in {record.key for record in capture.records()}


def test_by_name() -> None:
    capture = recorded(steps=2)
    assert capture["Net/fc1/Mul-op0"].names == ["Net/fc1/Mul-op0"]
    assert [each.name for each in capture["fc2"].operators] == ["Net/fc2/Add-op0"]
    assert len(capture["fc1"].records) == 6
    assert capture["fc1"]["output.0"].tolist() == [3.0, 8.0]
    with pytest.raises(KeyError, match=r"fc1 has no output\.1; it has input\.0, input\.1, output\.0"):
        capture["fc1"]["output.1"]
    with pytest.raises(KeyError, match=r"nothing named 'fc3'; it has fc"):
        capture["fc3"]
    with pytest.raises(KeyError, match="nothing named ''"):
        capture[""]


def test_an_operator_that_another_step_has_otherwise() -> None:
    observer = CaptureObserver()
    recording = Recording(Engine("eager"), observers=[observer])
    graph = recording.eager()
    for rate in (0.1, 0.1, 0.2, 0.1):
        with recording.step(graph) as step:
            operator = graph.operator("SGD", "Net", {"rate": rate}, outputs=[FLOATS], mutates=())
            with step.launch(operator, [np.float32([1, 2])]) as launch:
                launch.done([np.float32([1, 2])])
    recording.close()
    capture = observer.capture("Net", "eager", emulated=False)
    rates = {name: dict(each.attributes)["rate"] for (_, _, name), each in capture.operators.items()}
    assert rates["Net/SGD-op0"] == 0.1
    assert 0.2 in rates.values()
    assert all(each.name == name for (_, _, name), each in capture.operators.items())


def plain(capture: Capture) -> Iterator[Any]:
    for record in capture.records():
        values = record.load()
        yield record.key, record.dtype, None if values is None else values.tobytes(), record.digest


def test_a_pickle_holds_all(tmp_path: Any) -> None:
    capture = recorded(gap=True)
    again = pickle.loads(pickle.dumps(capture))
    assert list(plain(again)) == list(plain(capture))
    assert again.operators == dict(capture.operators)
    assert (dict(again.results), again.gaps, again.engine) == (dict(capture.results), capture.gaps, capture.engine)
    assert again.environment == dict(capture.environment)
    assert dict(again.artefacts) == dict(capture.artefacts)
    assert again["fc1"]["output.0"].tolist() == [3.0, 8.0]


def test_as_a_table() -> None:
    pandas = pytest.importorskip("pandas")
    found = recorded().to_pandas()
    assert isinstance(found, pandas.DataFrame)
    assert found["operator"].tolist()[0] == "Net/fc1/Mul-op0"
    assert found["max"].tolist()[-1] == 9.0
    assert len(found) == 5


def test_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from harness.errors import HarnessError

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(HarnessError, match="needs pandas"):
        recorded().to_pandas()


def test_arrays_are_the_captures_own() -> None:
    observer = CaptureObserver()
    recording = Recording(Engine("tinyrt"), observers=[observer])
    operator = Operator("Neg", "Net", inputs=[Parameter("x", FLOATS, False)], outputs=[FLOATS], mutates=())
    with recording.compiling("Net", ["x"]) as compiling:
        graph = compiling.graph([operator])
    memory = np.float32([1, 2])
    with recording.step(graph) as step, step.launch(operator, [memory]) as launch:
        launch.done([memory])
    memory[:] = 9
    capture = observer.capture("Net", "tinyrt", emulated=False)
    assert [record.load().tolist() for record in capture.records()] == [[1, 2], [1, 2]]  # type: ignore[union-attr]


@given(st.lists(st.sampled_from(["fc", "fc1", "fc10", "relu", "a.b"]), min_size=1, max_size=4), st.integers(0, 3))
def test_a_layers_name_fits_whole_parts_alone(scope: list[str], at: int) -> None:
    from harness.capture.part import found
    from harness.records import Record, SlotKey

    name = "/".join([*scope, "Mul-op0"])
    record = Record(SlotKey(0, 0, 0, name, 0, "output", 0), "Mul", "Float32", ())
    wanted = scope[at % len(scope)]
    assert found(wanted, [record], {}).names == [name]
    if wanted + "x" not in scope:
        with pytest.raises(KeyError):
            found(wanted + "x", [record], {})
