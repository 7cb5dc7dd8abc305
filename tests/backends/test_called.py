"""Operators of PyNative mode in captures: called one by one, and as the graph of a gradient."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import GRAPH_MODE, PYNATIVE_MODE, Tensor, context, jit, nn, ops, value_and_grad
from harness.backends import get
from harness.capture import Capture
from harness.records import SlotKey
from tests.examples import examples


def captured(
    program: Any, mode: int = PYNATIVE_MODE, backend: str = "cpu", steps: int = 1, tree: Any = None
) -> Capture:
    context.set_context(mode=mode)
    with get(backend).open(network="net") as process:
        if tree is not None:
            process.keep_tree(tree)
        for _ in range(steps):
            process.execute(program)
            process.stepped()
        return process.capture()


def contents(capture: Capture) -> dict[SlotKey, bytes]:
    return {record.key: record.values.tobytes() for record in capture.records()}


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Dense(3, 4, weight_init="ones")
        self.second = nn.Dense(4, 2, weight_init="normal")

    def construct(self, x: Any) -> Any:
        return ops.softmax(self.second(ops.relu(self.first(x)) * 0.5), -1)


def data(seed: int = 0, shape: tuple[int, ...] = (2, 3)) -> Tensor:
    return Tensor(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def names(capture: Capture, iteration: int = 0) -> list[str]:
    keys = (record.key for record in capture.records())
    return list(dict.fromkeys(key.operator for key in keys if key.iteration == iteration))


def test_a_cell_has_the_values_of_its_graph_and_the_scopes_of_its_cells() -> None:
    net, x = Net(), data()
    called, compiled = captured(lambda: net(x)), captured(lambda: net(x), GRAPH_MODE)

    def results(capture: Capture) -> list[tuple[str, bytes]]:
        return [
            (r.op_type, r.values.tobytes())
            for r in capture.records()
            if r.key.io == "output" and r.op_type != "Parameter"
        ]

    assert [name.rpartition("/")[0] for name in names(called)] == [
        "Default/first-Dense", "Default/first-Dense", "Default", "Default", "Default/second-Dense",
        "Default/second-Dense", "Default",
    ]  # fmt: skip
    assert results(called)[-1] == results(compiled)[-1]
    assert {value for _, value in results(called)} == {value for _, value in results(compiled)}


def test_a_training_step_is_a_step_whatever_it_is_made_of() -> None:
    net, x, y = Net(), data(), data(1, (2, 2))
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    gradient = value_and_grad(lambda x, y: ops.reduce_mean(ops.square(net(x) - y)), None, optimizer.parameters)

    def step() -> None:
        _, grads = gradient(x, y)
        optimizer(tuple(grad * 2 for grad in grads))

    capture = captured(step, steps=3)
    assert names(capture, 0) == names(capture, 1) == names(capture, 2)
    assert not names(capture, 3)
    kinds = {operator.type for operator in capture.operators.values()}
    assert {"MatMul", "ReluGrad", "Muls", "ApplyMomentum"} <= kinds
    order = [name.rpartition("/")[2].partition("-")[0] for name in names(capture)]
    assert order.index("ReduceMean") < order.index("ReluGrad") < order.index("Muls") < order.index("ApplyMomentum")


def test_calls_without_graphs_are_steps_when_somebody_says_so() -> None:
    net, x = Net(), data()
    capture = captured(lambda: net(x), steps=2)
    assert names(capture, 0) == names(capture, 1)
    assert not names(capture, 2)
    assert len(captured(lambda: (net(x), net(x))).operators) == 2 * len(capture.operators)


@pytest.mark.parametrize("backend", ["gpu", "ascend-o2"])
def test_other_devices_compute_them_as_the_cpu_does(backend: str) -> None:
    net, x = Net(), data()
    assert [r.values.tobytes() for r in captured(lambda: net(x), backend=backend).records()] == [
        r.values.tobytes() for r in captured(lambda: net(x)).records()
    ]


def test_a_dump_has_graphs_alone(tmp_path: Path) -> None:
    @jit
    def compiled(x: Any) -> Any:
        return ops.exp(x)

    capture = captured(lambda: ops.cos(compiled(ops.sin(data()))), tree=tmp_path)
    assert [name.rpartition("/")[2] for name in names(capture)] == ["Sin-op0", "Exp-op0", "x"]
    assert names(capture, 1) == ["Default/Cos-op0"], "the graph ended the step"
    assert {file.name.split(".")[0] for file in tmp_path.rglob("*.npy")} == {"Exp", "Parameter"}


def test_in_graph_mode_they_leave_nothing() -> None:
    assert not list(captured(lambda: ops.sin(data()), GRAPH_MODE).records())


def test_a_kernel_that_calls_others_is_one_operator() -> None:
    capture = captured(lambda: data().sum())
    assert [operator.type for operator in capture.operators.values()] == ["SumExt"]


def test_an_update_shows_what_became_of_its_input() -> None:
    weight = nn.Dense(2, 1, weight_init="zeros").weight
    capture = captured(lambda: ops.assign_add(weight, Tensor(np.ones((1, 2), np.float32))))
    (operator,) = capture.operators.values()
    assert (operator.type, operator.mutates) == ("AssignAdd", (0,))
    assert operator.inputs[0].name == weight.name
    first = next(record for record in capture.records() if record.key[5:] == ("input", 0))
    assert first.values.tolist() == [[1.0, 1.0]]


UNARY = ["relu", "tanh", "exp", "neg", "square", "softmax"]
PICKED = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=12)


def drawn(steps: list[tuple[int, int, int]], x: Any) -> Any:
    """Operators that take whatever was made before."""
    made = [x]
    for kind, one, other in steps:
        a, b = made[one % len(made)], made[other % len(made)]
        if kind < len(UNARY):
            made.append(getattr(ops, UNARY[kind])(a))
        elif kind == len(UNARY):
            made.append(a + b)
        else:
            made += ops.split(ops.concat([a, b], 0), 2)
    return made[-1]


@examples(30, 300)
@given(PICKED, st.integers(0, 99))
def test_every_edge_leads_to_what_was_taken(steps: list[tuple[int, int, int]], seed: int) -> None:
    x = data(seed, (2, 2))
    capture = captured(functools.partial(drawn, steps, x))
    held = contents(capture)
    made = [each for each in capture.operators.values() if each.inputs]
    edges = [(each, slot, edge) for each in made for slot, edge in enumerate(each.inputs) if edge.kind == "result"]
    for each, slot, edge in edges:
        taken = held[SlotKey(0, each.graph, 0, each.name, 0, "input", slot)]
        assert taken == held[SlotKey(0, each.graph, 0, edge.name, 0, "output", edge.slot)]
    unknown = [held[SlotKey(0, each.graph, 0, each.name, 0, "input", slot)] for each in made
               for slot, edge in enumerate(each.inputs) if edge.kind == "unknown"]  # fmt: skip
    assert set(unknown) <= {x.asnumpy().tobytes()}
    assert contents(captured(functools.partial(drawn, steps, x))) == held
