"""Numbers, printed order, launch order and parameter order of finished graphs, on graphs of every form."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.framework.compile.order import Numbering, arrange, launch_order, parameter_order
from harness.graph import Const, Graph, Node, Operand, Parameter, TensorSpec, TupleSpec, constant, printed_order

SPEC = TensorSpec(dtypes.float32, (2,))


def node(op: str, *inputs: Operand, scope: str = "Default", kernel: bool = True) -> Node:
    return Node(op, list(inputs), {}, scope, SPEC, kernel=kernel)


def returned(*values: Operand) -> Node:
    return Node("MakeTuple", list(values), {}, "Default", TupleSpec((SPEC,) * len(values)), kernel=False)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A graph of up to 25 nodes, kernels and others, over up to four parameters; some are used by nobody."""
    parameters = [Parameter(f"p{i}", SPEC, False) for i in range(draw(st.integers(1, 4)))]
    operands: list[Operand] = [*parameters, constant(1), constant(np.ones(2, np.float32))]
    for number in range(draw(st.integers(1, 25))):
        count = draw(st.integers(1, 3))
        chosen = [operands[draw(st.integers(0, len(operands) - 1))] for _ in range(count)]
        kernel = draw(st.booleans())
        made = node(f"Op{number % 3}" if kernel else "Depend", *chosen, scope=f"Default/c{number % 2}", kernel=kernel)
        operands.append(made)
    more = draw(st.lists(st.integers(0, len(operands) - 1), max_size=2))
    results = [operands[-1], *(operands[at] for at in more)]
    graph = Graph(0, [], returned(*results))
    arrange(graph)
    return graph


def kernels_behind(operand: Operand, seen: set[int]) -> list[Node]:
    if not isinstance(operand, Node) or id(operand) in seen:
        return []
    seen.add(id(operand))
    found = [k for i in operand.inputs for k in kernels_behind(i, seen)]
    return [*found, operand] if operand.kernel else found


@given(graphs())
def test_every_kernel_is_launched_once_after_what_it_needs(graph: Graph) -> None:
    needed = [n for n in graph.nodes if n.kernel]
    assert sorted(map(id, graph.execution_order)) == sorted(map(id, needed))
    done: set[int] = set()
    for launched in graph.execution_order:
        before = kernels_behind(launched, set())[:-1]
        assert all(id(k) in done for k in before)
        done.add(id(launched))


@given(graphs())
def test_printed_order_is_depth_first_inputs_first(graph: Graph) -> None:
    at = {id(n): i for i, n in enumerate(graph.nodes)}
    assert graph.nodes[-1] is graph.output
    assert len(at) == len(graph.nodes)
    for place, each in enumerate(graph.nodes):
        assert all(at[id(i)] < place for i in each.inputs if isinstance(i, Node))


@given(graphs())
def test_parameters_are_those_used_each_once(graph: Graph) -> None:
    used = {id(i): i for n in graph.nodes for i in n.inputs if isinstance(i, Parameter)}
    found = parameter_order(graph.output)
    assert {id(p) for p in found} == set(used)
    assert len(found) == len(used)


@given(graphs())
def test_the_orders_are_the_same_every_time(graph: Graph) -> None:
    assert list(map(id, launch_order(graph.output))) == list(map(id, graph.execution_order))
    assert list(map(id, parameter_order(graph.output))) == list(map(id, parameter_order(graph.output)))


@given(graphs())
def test_equal_constants_are_listed_once(graph: Graph) -> None:
    used = {id(i) for n in graph.nodes for i in n.inputs if isinstance(i, Const)}
    assert {id(c) for c in graph.constants} == used
    assert len(graph.constants) <= 2


@given(st.lists(graphs(), min_size=1, max_size=3))
def test_numbers_count_each_name_over_all_graphs(several: list[Graph]) -> None:
    numbering = Numbering()
    for graph in several:
        numbering.number(graph.nodes)
    names: dict[str, list[int]] = {}
    for graph in several:
        for each in graph.nodes:
            names.setdefault(f"{each.scope}/{each.op}", []).append(each.number)
    assert all(numbers == list(range(len(numbers))) for numbers in names.values())


def test_a_result_is_launched_when_its_inputs_are_ready() -> None:
    x = Parameter("x", SPEC, False)
    a = node("A", x)
    b = node("B", a)
    c = node("C", a)
    d = node("D", b, c)
    assert [n.op for n in launch_order(returned(d))] == ["A", "B", "C", "D"]


def test_what_needs_nothing_is_launched_just_before_its_user() -> None:
    x = Parameter("x", SPEC, False)
    chain = node("Second", node("First", x))
    late = node("Late", constant(np.ones(2, np.float32)))
    order = [n.op for n in launch_order(returned(node("Last", chain, late)))]
    assert order.index("Late") > 0
    assert order[-1] == "Last"


def test_a_graph_may_be_deeper_than_pythons_stack() -> None:
    operand: Operand = Parameter("x", SPEC, False)
    for _ in range(20_000):
        operand = node("Neg", operand)
    graph = Graph(0, [], returned(operand))
    arrange(graph)
    assert len(graph.execution_order) == 20_000
    assert printed_order(graph.output) == graph.nodes
