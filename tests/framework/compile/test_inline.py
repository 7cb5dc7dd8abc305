"""The order in which function graphs are put into the one that is differentiated."""

from __future__ import annotations

import ast

import pytest

from harness.dtypes import float32
from harness.framework.compile.closure import Closure
from harness.framework.compile.inline import inlining_order
from harness.framework.compile.places import picks
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


@pytest.mark.parametrize("by_keyword", [False, True])
def test_an_argument_by_keyword_brings_its_call_no_nearer(by_keyword: bool) -> None:
    top = Closure(None)
    reading, function, beside = Closure(top), Closure(top, of_library=True, by_keyword=by_keyword), Closure(top)
    for _ in range(6):
        beside = Closure(beside)
    x = Parameter("x", SPEC, False)
    given = node(reading, x)
    reading.affect(None)
    inside, other = node(function, given), node(beside, x)
    far: Operand = inside
    for _ in range(12):
        far = node(top, far)
    last = node(top, far, other)
    order, _idle = inlining_order([given, inside, other, last], [last])
    assert (order.index(function) < order.index(beside)) == (not by_keyword)


@pytest.mark.parametrize("is_handed", [False, True])
def test_a_loop_sees_what_it_is_not_handed(is_handed: bool) -> None:
    top = Closure(None)
    maker, beside = Closure(top), Closure(top)
    x = Parameter("x", SPEC, False)
    given = node(maker, x)
    turn = Closure(top, nested=True, given=frozenset({id(given)} if is_handed else ()))
    inner = Closure(turn)
    inside, other = node(inner, given), node(beside, x)
    assert turn.sees(given) == (not is_handed)
    last = node(top, given, other, inside)
    order, _idle = inlining_order([given, inside, other, last], [last])
    assert set(order) == {top, maker, beside, turn, inner}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("_, y = self.a(x)\n    return y", True),
        ("y = self.a(x)\n    return y", False),
        ("_, y = self.a(x)\n    y = self.b(y)\n    return y", False),
        ("z, _ = self.a(x)\n    y = z\n    return y", True),
        ("return self.a(x)[1]", True),
        ("return self.a(x)", False),
        ("a, b = x, x\n    return a", False),
    ],
)
def test_what_picks_one_of_several_results(text: str, expected: bool) -> None:
    (function,) = ast.parse(f"def construct(self, x):\n    {text}\n").body
    last = function.body[-1]  # type: ignore[attr-defined]
    assert picks(function, (last.lineno, last.col_offset)) is expected
