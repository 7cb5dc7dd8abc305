"""Compiled functions as a whole: inputs, attributes, silent functions, dynamic shapes, numbers over programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness import Tensor, dtypes, mutable, ops
from harness.framework.compile.order import Numbering
from harness.framework.compile.program import compile_function, is_input
from harness.framework.tensor import Parameter
from harness.graph import Const, Node, TensorSpec
from tests.framework.compile.build import Net, compiled, floats, graph_of

X = floats(2, 3)


def test_inputs_in_the_order_of_the_arguments() -> None:
    program = compile_function(
        lambda a, b, c: a[1] + c + a[0], [mutable((X, X)), 7, X], ["a", "b", "c"], 5, Numbering()
    )
    assert [p.name for p in program.inputs] == ["a_0", "a_1", "c"]
    assert program.graph.id == program.graph.root_id == 5
    assert program.graph.attrs == {"enable_zero_copy_in_graph": 1}
    assert program.of_region == {id(program.block.items[0]): program.graph}


def test_what_is_a_data_input() -> None:
    assert is_input(X)
    assert not is_input(Parameter(X, name="w"))
    assert not is_input(Tensor(np.ones(2, np.float32), const_arg=True))
    assert not is_input(2)


def test_constant_arguments_are_constants() -> None:
    constant = Tensor(np.full((2, 3), 2, np.float32), const_arg=True)
    graph = compile_function(lambda x, c: x * c, [X, constant], ["x", "c"], 0, Numbering()).graph
    assert [p.name for p in graph.parameters] == ["x"]
    assert [i.value.tolist() for i in graph.execution_order[0].inputs if isinstance(i, Const)] == [[[2.0] * 3] * 2]


def test_nodes_know_their_graph() -> None:
    graph = graph_of(lambda net, x: ops.exp(x) + net.w, X)
    assert all(node.extra.graph is graph for node in graph.nodes)


GIVEN_BACK = {
    "an input": lambda net, x: x,
    "a weight": lambda net, x: net.w,
    "a constant": lambda net, x: net.c,
    "constants": lambda net, x: (net.c, 2),
    "a number": lambda net, x: 3,
    "an input after simplification": lambda net, x: x * 1,
}
GRAPHS = {
    "a tuple of inputs": lambda net, x: (x, x),
    "an input and a weight": lambda net, x: (x, net.w),
    "a sum": lambda net, x: x + 1,
    "an input after an update": lambda net, x: ops.depend(x, ops.assign(net.w, x)),
}


@pytest.mark.parametrize("name", [*GIVEN_BACK, *GRAPHS])
def test_what_is_only_given_back_is_no_graph(name: str) -> None:
    function = {**GIVEN_BACK, **GRAPHS}[name]
    with compiled() as graphs:
        out = Net(lambda net, *args: function(net, *args))(X)
        Net(lambda net, x: ops.exp(x))(X)
    assert [graph.id for graph in graphs] == list(range(1 if name in GIVEN_BACK else 2))
    assert out is not None


def test_given_back_values_are_right() -> None:
    with compiled():
        same, weight, constant, mixed = (
            Net(f)(X) for f in (lambda net, x: x, lambda net, x: net.w, lambda net, x: net.c, lambda net, x: (net.c, 2))
        )
    np.testing.assert_array_equal(same.asnumpy(), X.asnumpy())
    assert np.unique(weight.asnumpy()).tolist() == [1.0]
    assert np.unique(constant.asnumpy()).tolist() == [3.0]
    assert mixed[1] == 2


def test_numbers_go_on_from_program_to_program() -> None:
    numbering = Numbering()
    programs = [compile_function(lambda x: ops.exp(ops.exp(x)), [X], ["x"], i, numbering) for i in range(2)]
    assert [n.number for p in programs for n in p.graph.execution_order] == [0, 1, 2, 3]


def test_dynamic_dimensions_are_unknown_in_the_graph() -> None:
    program = compile_function(lambda x: ops.exp(x) * 2, [X], ["x"], 0, Numbering(), dynamic=[(-1, 3)])
    specs = [node.spec for node in program.graph.execution_order]
    assert specs == [TensorSpec(dtypes.float32, (-1, 3))] * 2


def test_a_dead_end_of_the_function_is_no_part_of_the_graph() -> None:
    def wasteful(net: Any, x: Any) -> Any:
        ops.exp(x)
        return ops.tanh(x)

    assert [n.op for n in graph_of(wasteful, X).nodes if isinstance(n, Node) and n.kernel] == ["Tanh"]
