"""Compiled kernels as a recording knows them: names, order, edges, and what they do to their inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness import Tensor, nn, ops
from harness.devices import DEVICES, Device
from harness.devices.cpu import CPU
from harness.framework.runtime import session
from harness.graph.form import form_of
from harness.recording import Constant, Graph, Observer, Operator, Parameter, Result
from tests.framework.compile.build import Net, floats, graph_mode

X = floats(2, 3)


class Declared(Observer):
    """Keeps the graphs."""

    def __init__(self) -> None:
        self.graphs: list[Graph] = []

    def graph_declared(self, graph: Graph) -> None:
        self.graphs.append(graph)


def declared(run: Callable[[], Any], device: Device = CPU) -> list[Graph]:
    watch = Declared()
    with graph_mode(), session.in_session(session.Session([watch], hooked=False, device=device)):
        run()
    return watch.graphs


def graph_of(function: Callable[..., Any], *inputs: Any, device: Device = CPU) -> Graph:
    (graph,) = declared(lambda: Net(function)(*inputs), device)
    return graph


def only(graph: Graph, type: str) -> Operator:
    (operator,) = [each for each in graph.operators if each.type == type]
    return operator


def test_operators_are_the_kernels_in_both_orders() -> None:
    for graph in declared(training):
        form = form_of(graph)
        assert [each.name for each in graph.operators] == [node.name for node in form.nodes if node.kernel]
        assert [each.name for each in graph.order] == [node.name for node in form.execution_order]
        assert [each.position for each in graph.order] == list(range(len(graph.order)))
        assert {each.graph for each in graph.operators} == {graph}
        assert graph.parameters == form.parameters
        assert (graph.engine.name, graph.engine.emulated) == ("emulation of MindSpore", True)


def training() -> None:
    net = nn.Dense(3, 2)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    step(X, floats(2, 2))


def test_edges_lead_to_what_was_computed() -> None:
    graph = graph_of(lambda net, x: ops.exp(ops.topk(x, 1)[1] + ops.sin(net.w) * 2), X)
    topk, add, multiply = only(graph, "TopK"), only(graph, "Add"), only(graph, "Mul")
    assert isinstance(topk.inputs[0], Parameter)
    assert topk.inputs[0].name == "inputs0"
    (weight,) = only(graph, "Sin").inputs  # read through a Load
    assert isinstance(weight, Parameter)
    assert weight.name == "w"
    assert Result(topk, 1) in {edge for each in graph.operators for edge in each.inputs}
    assert multiply.inputs[0] == Result(only(graph, "Sin"), 0)
    assert isinstance(multiply.inputs[1], Constant)
    assert add.inputs[1] == Result(multiply, 0)
    assert [edge.spec for edge in add.inputs if edge is not None][1] == multiply.outputs[0]


def test_what_updates_in_place_says_so() -> None:
    graph = graph_of(lambda net, x: (ops.assign(net.w, x), ops.exp(x))[1], X)
    assert only(graph, "Assign").mutates == (0,)
    assert only(graph, "Exp").mutates == ()
    (trained,) = declared(training)
    updates = {each.type: each.mutates for each in trained.operators if each.mutates}
    assert updates == {"AssignAdd": (0,), "ApplyMomentum": (0, 1)}


def test_phases() -> None:
    (graph,) = declared(training)
    phases = {each.name.rpartition("/")[2]: each.phase for each in graph.operators}
    assert phases["BiasAdd-op0"] == "forward"
    assert phases["BiasAddGrad-op0"] == "backward"
    assert phases["ApplyMomentum-op0"] == phases["ApplyMomentum-op1"] == "optimizer"


def test_settings_are_told_from_inputs() -> None:
    graph = graph_of(lambda net, x: ops.softmax(ops.matmul(x, ops.transpose(net.w, (1, 0))), -1), X)
    assert only(graph, "MatMul").arguments == {"transpose_a": 2, "transpose_b": 3}
    assert only(graph, "Softmax").arguments == {"axis": 1}
    plain = graph_of(lambda net, x: ops.relu(x), X)
    assert only(plain, "ReLU").arguments == {}


def test_settings_follow_a_tuple_of_tensors() -> None:
    graph = graph_of(lambda net, x: ops.concat((x, ops.exp(x), x), 1), X)
    concat = only(graph, "Concat")
    assert concat.arguments == {"axis": 3}
    axis = concat.inputs[3]
    assert isinstance(axis, Constant)
    assert axis.value == 1


def test_parts_of_a_fused_kernel() -> None:
    graph = graph_of(lambda net, x: (x + 1) * 2 - x, X, device=DEVICES.get("ascend-o1"))
    (fused,) = [each for each in graph.operators if each.parts]
    assert {part.type for part in fused.parts} >= {"Add", "Mul", "Sub"}
    assert fused.parts[-1].type == "Sub"
    assert fused.unfused is not None


def test_control_flow_declares_a_graph_for_each_piece() -> None:
    def choose(net: Any, x: Any) -> Any:
        return ops.tanh(ops.cond(x.sum() > 0, lambda v: v * 2, lambda v: v - 1, ops.exp(x)))

    graphs = declared(lambda: Net(choose)(Tensor(np.ones(2, np.float32))))
    assert len(graphs) > 1
    assert {graph.root_id for graph in graphs[1:]} == {graphs[0].id}
    assert all(operator.graph is graph for graph in graphs for operator in graph.operators)
