"""The order in which function graphs are put into the one that is differentiated."""

from __future__ import annotations

import pytest

from harness.dtypes import float32
from harness.framework.compile.closures import Closure
from harness.framework.compile.inline import inlining_order
from harness.graph import Node, NodeExtra, Operand, Parameter, TensorSpec

SPEC = TensorSpec(float32, (2,))


def node(closure: Closure, *inputs: Operand, op: str = "Tanh", before: int = 0) -> Node:
    """An operator written in ``closure``."""
    made = Node(op, list(inputs), {}, "Default", SPEC)
    made.extra = NodeExtra(closure=closure, effects_before=before)
    closure.nodes.append(made)
    return made


def test_one_graph_alone() -> None:
    top = Closure(None)
    first = node(top, Parameter("x", SPEC, False))
    last = node(top, first)
    assert inlining_order([first, last], [last])[0] == [top]


def test_the_call_nearer_to_the_result_comes_first() -> None:
    top = Closure(None)
    one, two = Closure(top), Closure(top)
    first = node(one, Parameter("x", SPEC, False))
    second = node(two, first)
    last = node(top, second)
    assert inlining_order([first, second, last], [last])[0] == [top, two, one]


def test_a_call_inside_a_call_comes_behind_it() -> None:
    top = Closure(None)
    outer = Closure(top)
    inner, beside = Closure(outer), Closure(top)
    x = Parameter("x", SPEC, False)
    deep = node(inner, x)
    middle = node(outer, deep)
    other = node(beside, x)
    last = node(top, middle, other)
    assert inlining_order([deep, middle, other, last], [last])[0] == [top, outer, beside, inner]


def test_the_outermost_graph_is_what_all_nodes_share() -> None:
    root = Closure(None)
    top = Closure(Closure(root))
    inner = Closure(top)
    first = node(inner, Parameter("x", SPEC, False))
    last = node(top, first)
    assert inlining_order([first, last], [last])[0] == [top, inner]


def test_each_graph_once_whatever_uses_its_results() -> None:
    top = Closure(None)
    one = Closure(top)
    a = node(one, Parameter("x", SPEC, False))
    b = node(one, a, op="Exp")
    last = node(top, a, b)
    assert inlining_order([a, b, last], [last])[0] == [top, one]


def test_no_operand_of_the_result_is_a_node() -> None:
    top = Closure(None)
    alone = node(top, Parameter("x", SPEC, False))
    assert inlining_order([alone], [Parameter("y", SPEC, False)])[0] == [top]


def test_an_effect_is_reached_through_the_state() -> None:
    top = Closure(None)
    pure, reading = Closure(top), Closure(top)
    x = Parameter("x", SPEC, False)
    first = node(reading, x)
    reading.affect(None)
    second = node(pure, first)
    last = node(top, second)
    order, _idle = inlining_order([first, second, last], [last])
    assert order[0] is top
    assert set(order) == {top, pure, reading}
    assert top.effects == [reading]


def test_a_result_that_nothing_uses_stays_where_its_call_reads_memory() -> None:
    top = Closure(None)
    idle, used = Closure(top), Closure(top)
    x = Parameter("x", SPEC, False)
    kept, dropped, last = node(idle, x), node(used, x, op="Exp"), node(used, x)
    idle.affect(None)
    order, found = inlining_order([last], [last], [kept, dropped, last])
    assert found == []  # ``top`` is the closure of the only node
    result = node(top, last)
    order, found = inlining_order([last, result], [result], [kept, dropped, last, result])
    assert found == [kept]
    assert set(order) == {top, idle, used}


@pytest.mark.parametrize("early", [(0, 1), None])
def test_a_graph_an_argument_leads_to_comes_before_its_turn(early: tuple[int, int] | None) -> None:
    top = Closure(None)
    function, maker, deep = Closure(top, of_library=True), Closure(top), Closure(top)
    leaf = Closure(function, level=30, of_library=True, early=early)
    function.leaves, leaf.slots = [leaf], {"Sub": [(31, 32)]}
    for _ in range(12):
        deep = Closure(deep)
    x = Parameter("x", SPEC, False)
    given, far = node(maker, x), node(deep, x)
    inside = node(leaf, given, op="Sub")
    last = node(top, inside, given, far)
    order, _idle = inlining_order([given, far, inside, last], [last])
    assert (order.index(leaf) < order.index(deep)) == (early is not None)


@pytest.mark.parametrize("is_idle", [False, True])
def test_a_result_waits_where_a_value_is_idle(is_idle: bool) -> None:
    top = Closure(None)
    function, maker, deep = Closure(top, of_library=True), Closure(top), Closure(top)
    leaf = Closure(function, level=30, of_library=True, early=(0, 2))
    function.leaves, leaf.slots = [leaf], {"Sub": [(31, 32)]}
    for _ in range(12):
        deep = Closure(deep)
    inner = Closure(maker)
    inner.affect(None)
    maker.tail = inner
    x = Parameter("x", SPEC, False)
    given, far, nothing = node(inner, x), node(deep, x), node(maker, x)
    inside = node(leaf, given, op="Sub")
    last = node(top, inside, given, far)
    nodes = [given, far, inside, last]
    order, _idle = inlining_order(nodes, [last], [nothing, *nodes] if is_idle else nodes)
    assert (order.index(leaf) < order.index(deep)) == (not is_idle)
