"""Composite operators are expanded after differentiation and simplification."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import Tensor, ops
from harness.framework.compile.api import value_and_grad_traced
from harness.framework.ops import OPERATORS
from harness.framework.ops.expansion import Composite
from harness.framework.runtime.session import fresh
from harness.graph import Node
from tests.framework.compile.build import floats, graph_of, kernels, only


def test_parts_stand_in_the_expansions_scope() -> None:
    graph = graph_of(lambda net, x: ops.exp(x) * 2.5, floats(2, 3))
    assert only(graph, "Mul").scope == "Expand/_Muls"
    assert only(graph, "Exp").scope == "Default"


def test_no_composite_is_left() -> None:
    graph = graph_of(lambda net, x: ((x * 2).sum(0) + x.mean(1).sum(), ops.std(x), x.max()), floats(2, 3))
    assert not [n for n in graph.nodes if n.kernel and isinstance(OPERATORS.get(n.op), Composite)]


def test_parts_have_the_source_of_the_whole() -> None:
    graph = graph_of(lambda net, x: x * 2.5, floats(2, 3))
    mul = only(graph, "Mul")
    assert mul.source == ()
    assert mul.related_kind == "code"
    assert mul.related[-1].path.endswith("test_expand.py")


def test_a_part_of_a_part_is_taken_apart() -> None:
    inner = [n for n in graph_of(lambda net, x: x.var(), floats(2, 3)).nodes if n.kernel]
    assert all(n.scope.startswith("Expand/") or n.scope == "Default" for n in inner)
    assert not [n for n in inner if isinstance(OPERATORS.get(n.op), Composite)]


def test_equal_composites_are_one_before_they_are_taken_apart() -> None:
    assert kernels(graph_of(lambda net, x: x * 2.5 + x * 2.5, floats(2, 3))) == ["Mul", "Add"]


def test_equal_parts_of_different_composites_stay_apart() -> None:
    graph = graph_of(lambda net, x: (x.sum(0), ops.sum(x, 0, True).reshape((3,))), floats(2, 3))
    assert kernels(graph).count("ReduceSum") == 2


def test_several_results_are_found_through_their_items() -> None:
    graph = graph_of(lambda net, x: ops.max(x, 1)[0] * 2, floats(2, 3))
    assert all(isinstance(i, Node) or not hasattr(i, "op") for n in graph.nodes for i in n.inputs)
    (mul,) = [n for n in graph.nodes if n.op == "Mul"]
    assert mul.scope == "Expand/_Muls"


def test_the_gradient_is_that_of_the_whole() -> None:
    def slope(net: Any, x: Any) -> Any:
        return value_and_grad_traced(lambda x: ops.sum(ops.exp(x) * 2.5), (x,), (0,))[1]

    scopes = {node.scope for node in graph_of(slope, floats(2, 3)).nodes if node.kernel}
    assert scopes == {"Default", "Gradients/Default/Grad_Exp"}


def test_eager_and_graph_agree() -> None:
    x = Tensor(np.linspace(0.5, 2, 6, dtype=np.float32).reshape(2, 3))
    calls: list[Any] = [
        lambda x: x * 2.5, lambda x: x / 3, lambda x: 3 - x, lambda x: x**3, lambda x: x.sum(0), lambda x: x.mean(),
        lambda x: x.std(), lambda x: x.max(), lambda x: x % 0.7, lambda x: ops.softplus(x), lambda x: x > 1,
    ]  # fmt: skip
    for function in calls:
        with fresh(hooked=False) as session:
            inside = session.run_function(function, (x,), {})
        outside = function(x)
        assert inside.asnumpy().tobytes() == outside.asnumpy().tobytes()
        assert inside.dtype is outside.dtype
