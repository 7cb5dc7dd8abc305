"""Gradients in a graph: where their nodes stand, how contributions are summed, which values have no gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness import Tensor, dtypes, nn, ops
from harness.errors import TraceError, UnsupportedError
from harness.framework.compile.api import value_and_grad_traced
from harness.graph import Graph, Node
from tests.framework.compile.build import Net, compiled, floats, graph_of, kernels, only

X, Y = floats(2, 3), floats(2, 3, start=2.0)


def gradient_graph(function: Callable[..., Any], *inputs: Tensor) -> Graph:
    """The graph of the gradients of a ``Net``'s function by all its inputs."""

    def slopes(net: Any, *args: Any) -> Any:
        return value_and_grad_traced(lambda *args: function(net, *args), args, range(len(args)))[1]

    return graph_of(slopes, *inputs)


def scopes(graph: Graph, op: str) -> list[str]:
    return [node.scope for node in graph.nodes if node.op == op]


def test_backward_nodes_stand_under_the_forward_scope() -> None:
    class Cell(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.net = Net(lambda net, x: net.act(x) * x)
            self.net.act = nn.Sigmoid()

        def construct(self, x: Any) -> Any:
            return ops.GradOperation()(self.net)(x)

    with compiled() as graphs:
        Cell()(X)
    grad = only(graphs[0], "SigmoidGrad")
    assert grad.scope == "Gradients/Default/net-Net/act-Sigmoid/Grad_Sigmoid"
    assert scopes(graphs[0], "AddN") == ["Gradients/Default"]


def test_contributions_are_summed_once_in_forward_order() -> None:
    graph = gradient_graph(lambda net, x: ops.exp(x) + ops.tanh(x) + ops.sin(x), X)
    total = only(graph, "AddN")
    assert len(total.inputs) == 3
    sources = [only_kernel_behind(i, {"Exp", "Tanh", "Sin"}) for i in total.inputs if isinstance(i, Node)]
    assert sources == ["Exp", "Tanh", "Sin"]


def only_kernel_behind(node: Node, among: set[str]) -> str:
    """Which forward primitive a contribution comes from, by the scope of its node."""
    found = node.scope.rpartition("/Grad_")[2] or node.op
    return found if found in among else node.op


def test_one_contribution_needs_no_sum() -> None:
    assert "AddN" not in kernels(gradient_graph(lambda net, x, y: ops.exp(x) * ops.exp(y), X, Y))


def test_reads_of_a_weight_are_one_contribution_target() -> None:
    def slopes(net: Any, x: Any) -> Any:
        return value_and_grad_traced(lambda x: ops.exp(net.w) * x + net.w, (x,), (), (net.w,))[2]

    graph = graph_of(slopes, X)
    assert [p.name for p in graph.parameters if p.is_weight] == ["w"]
    assert len(only(graph, "AddN").inputs) == 2


def test_unused_inputs_get_zeros() -> None:
    with compiled():
        slopes = Net(lambda net, x, y: value_and_grad_traced(lambda x, y: ops.exp(x), (x, y), (0, 1))[1])(X, Y)
    assert slopes[1].asnumpy().tolist() == np.zeros((2, 3)).tolist()
    assert slopes[1].dtype is dtypes.float32


def test_nothing_flows_through_integers_and_stops() -> None:
    with compiled():
        out = Net(
            lambda net, x: value_and_grad_traced(
                lambda x: x * ops.stop_gradient(ops.exp(x)) + ops.argmax(x, 1).sum(), (x,), (0,)
            )[1][0]
        )(X)
    expected = np.exp(X.asnumpy().astype(np.float64)).astype(np.float32)
    np.testing.assert_array_equal(out.asnumpy(), expected)


def test_sens_weights_the_result() -> None:
    with compiled():
        out = Net(lambda net, x, s: value_and_grad_traced(lambda x: x * x, (x,), (0,), sens=s)[1][0])(X, Y)
    np.testing.assert_array_equal(out.asnumpy(), 2 * X.asnumpy() * Y.asnumpy())


def test_sens_may_be_a_function_of_the_result() -> None:
    with compiled():
        out = Net(lambda net, x: value_and_grad_traced(lambda x: x * x, (x,), (0,), sens=lambda out: out)[1][0])(X)
    np.testing.assert_allclose(out.asnumpy(), 2 * X.asnumpy() ** 3, rtol=1e-6)


def test_several_results_add_up() -> None:
    with compiled():
        out = Net(lambda net, x: value_and_grad_traced(lambda x: (x * 2, (x * 3, x * 5)), (x,), (0,))[1][0])(X)
    assert np.unique(out.asnumpy()).tolist() == [10.0]


def test_has_aux_differentiates_the_first_result_only() -> None:
    def both(net: Any, x: Any) -> Any:
        value, slopes, _ = value_and_grad_traced(lambda x: (x * 2, x * 300), (x,), (0,), has_aux=True)
        return (*value, slopes[0])

    with compiled():
        first, second, slope = Net(both)(X)
    assert np.unique(slope.asnumpy()).tolist() == [2.0]
    np.testing.assert_array_equal(second.asnumpy(), 150 * first.asnumpy())


def test_pieces_nobody_used_have_zero_gradients() -> None:
    with compiled():
        out = Net(lambda net, x: value_and_grad_traced(lambda x: ops.split(x, 1, 1)[1] * 4, (x,), (0,))[1][0])(X)
    assert out.asnumpy().tolist() == [[0, 4, 0]] * 2


def test_gradients_of_gradients() -> None:
    def second(net: Any, x: Any) -> Any:
        return value_and_grad_traced(lambda x: value_and_grad_traced(lambda x: x * x * x, (x,), (0,))[1][0], (x,), (0,))

    with compiled():
        value, (slope,), _ = Net(second)(X)
    x = X.asnumpy()
    np.testing.assert_allclose(value.asnumpy(), 3 * x**2, rtol=1e-6)
    np.testing.assert_allclose(slope.asnumpy(), 6 * x, rtol=1e-6)


def test_marks_travel_to_the_gradient() -> None:
    class Marked(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.act = nn.Sigmoid()
            self.act.__dict__["_dump"] = True

        def construct(self, x: Any) -> Any:
            return value_and_grad_traced(lambda x: self.act(x) * x, (x,), (0,))[1]

    with compiled() as graphs:
        Marked()(X)
    marked = {node.op for node in graphs[0].nodes if node.attrs.get("dump")}
    assert marked == {"Sigmoid", "SigmoidGrad"}


def test_gradient_nodes_name_their_forward_node() -> None:
    grad = only(gradient_graph(lambda net, x: ops.sigmoid(x), X), "SigmoidGrad")
    assert grad.source == ()
    assert grad.related_kind == "forward node"
    assert grad.related[-1].path.endswith("test_differentiate.py")


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (
            lambda net, x: value_and_grad_traced(
                lambda x: value_and_grad_traced(lambda x: ops.gelu(x, approximate="tanh"), (x,), (0,))[1][0], (x,), (0,)
            ), UnsupportedError, "GeLUGrad has no gradient",
        ),
    ],
    ids=["no second order"],
)  # fmt: skip
def test_refused(function: Callable[..., Any], error: type[Exception], text: str) -> None:
    def called(net: Any, *args: Any) -> Any:
        return function(net, *args)

    with compiled(), pytest.raises(error, match=text):
        Net(called)(X)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_gradient_passes_the_side_that_ran(sign: int) -> None:
    def called(net: Any, x: Any) -> Any:
        return value_and_grad_traced(lambda x: ops.cond(x.sum() > 0, ops.sin, ops.cos, x), (x,), (0,))[1][0]

    given = sign * X.asnumpy()
    with compiled():
        found = Net(called)(Tensor(given))
    expected = np.cos(given) if given.sum() > 0 else -np.sin(given)
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-6)


def test_control_flow_that_the_gradient_does_not_pass_is_allowed() -> None:
    def beside(net: Any, x: Any, y: Any) -> Any:
        chosen = ops.cond(y.sum() > 0, ops.sin, ops.cos, y)
        return value_and_grad_traced(lambda x: x * chosen, (x,), (0,))[1][0]

    with compiled():
        out = Net(beside)(X, Y)
    np.testing.assert_array_equal(out.asnumpy(), np.sin(Y.asnumpy().astype(np.float64)).astype(np.float32))


def test_outside_of_a_graph_there_is_nothing_to_differentiate() -> None:
    with pytest.raises(TraceError, match="only while it is traced"):
        value_and_grad_traced(lambda x: x, (X,), (0,))
