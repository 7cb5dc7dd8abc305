"""Updates wait for readers; reads that an update would overtake are copied; unused reads are removed."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import Tensor, nn, ops
from harness.graph import Graph, Node, Operand
from tests.framework.compile.build import Net, compiled, floats, graph_of, kernels, only

X, Y = floats(2, 3), floats(2, 3, start=2.0)


def state_of(graph: Graph, op: str) -> list[str]:
    """Primitives of what the state in front of the one node ``op`` follows."""
    state = only(graph, op).inputs[-1]
    return [operand.op for operand in follows(state)]


def follows(state: Operand) -> list[Node]:
    assert isinstance(state, Node)
    found: list[Node] = []
    for operand in state.inputs[1:]:
        assert isinstance(operand, Node)
        found += operand.inputs if operand.op == "MakeTuple" else [operand]  # type: ignore[arg-type]
    return found


def test_an_update_waits_for_the_kernels_that_read_what_it_overwrites() -> None:
    def swap(net: Any, x: Any) -> Any:
        z = ops.exp(net.w) + net.v
        ops.assign(net.w, x)
        return z

    graph = graph_of(swap, X)
    assert state_of(graph, "Assign") == ["Load", "Load", "Exp"]
    order = [node.op for node in graph.execution_order]
    assert order.index("Exp") < order.index("Assign")


def test_a_reader_of_another_parameter_is_not_waited_for() -> None:
    def other(net: Any, x: Any) -> Any:
        z = ops.exp(net.v)
        ops.assign(net.w, x)
        return z

    assert state_of(graph_of(other, X), "Assign") == ["Load"]


def test_a_read_between_two_updates_is_copied() -> None:
    def between(net: Any, x: Any, y: Any) -> Any:
        ops.assign(net.w, x)
        z = net.w + 1
        ops.assign_add(net.w, y)
        return z * net.w

    with compiled() as graphs:
        net = Net(between)
        out = net(X, Y)
    assert "TensorMove" in kernels(graphs[0])
    x, y = X.asnumpy(), Y.asnumpy()
    np.testing.assert_array_equal(out.asnumpy(), (x + 1) * (x + y))
    np.testing.assert_array_equal(net.w.asnumpy(), x + y)


def test_reads_nobody_uses_are_in_no_state() -> None:
    class Gradient(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.net = Net(lambda net, x: ops.exp(x * net.w) + net.v)

        def construct(self, x: Any) -> Any:
            return ops.GradOperation()(self.net)(x)

    with compiled() as graphs:
        Gradient()(X)
    loads = [node for node in graphs[0].nodes if node.op == "Load"]
    assert [getattr(load.inputs[0], "name", None) for load in loads] == ["net.w"]
    assert {p.name for p in graphs[0].parameters} == {"net.w", "x"}


def test_without_reads_there_is_no_state() -> None:
    class Gradient(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.net = Net(lambda net, x: x + net.v)

        def construct(self, x: Any) -> Any:
            return ops.GradOperation()(self.net)(x) + x

    with compiled() as graphs:
        Gradient()(X)
    assert {node.op for node in graphs[0].nodes} == {"Add", "MakeTuple"}


def test_an_effect_nothing_depends_on_happens_once() -> None:
    def count(net: Any, x: Any) -> Any:
        ops.assign_add(net.w, x)
        return x + 1

    with compiled():
        net = Net(count)
        for _ in range(3):
            net(X)
    np.testing.assert_array_equal(net.w.asnumpy(), 1 + 3 * X.asnumpy())


def test_effects_run_in_program_order() -> None:
    def steps(net: Any, x: Any) -> Any:
        ops.assign(net.w, x)
        ops.assign(net.v, net.w * 2)
        ops.assign(net.w, net.v + 1)
        return net.w * 1.5

    with compiled():
        net = Net(steps)
        out = net(X)
    x = X.asnumpy()
    np.testing.assert_array_equal(net.v.asnumpy(), 2 * x)
    np.testing.assert_array_equal(net.w.asnumpy(), 2 * x + 1)
    np.testing.assert_array_equal(out.asnumpy(), (2 * x + 1) * 1.5)


def test_a_value_computed_before_an_update_keeps_it() -> None:
    def before(net: Any, x: Any) -> Any:
        row, flat, whole = net.w[0], net.w.reshape((6,)), net.w.transpose((1, 0))
        total = row.sum() + flat.sum() + whole.sum()
        ops.assign(net.w, x)
        return total, row + 0.5, flat + 0.5, whole + 0.5

    with compiled():
        total, row, flat, whole = Net(before)(X)
    assert total.asnumpy() == 15
    assert {float(v) for out in (row, flat, whole) for v in out.asnumpy().ravel()} == {1.5}


def test_settings_decide_whether_batch_normalisation_updates() -> None:
    x = Tensor(np.arange(12, dtype=np.float32).reshape(4, 3))
    layer = nn.BatchNorm1d(3)
    with compiled() as graphs:
        layer.set_train(False)(x)
        before = layer.moving_mean.asnumpy().copy()
        layer.set_train()(x)
    still, training = (only(graph, "BatchNorm") for graph in graphs)
    assert still.extra.effect is None
    assert training.extra.effect == "memory"
    assert not np.array_equal(layer.moving_mean.asnumpy(), before)
    assert [p.name for p in graphs[0].parameters if p.is_inplace] == []
    moved = {layer.moving_mean.name, layer.moving_variance.name}
    assert {p.name for p in graphs[1].parameters if p.is_inplace} == moved
