"""The order in which function graphs are put into the one that is differentiated."""

from __future__ import annotations

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
