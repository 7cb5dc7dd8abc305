"""Function graphs nested as MindSpore's parser nests them, found from the running code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness import nn, ops
from harness.framework.compile.closure import Closure
from tests.framework.compile.build import Net, compiled, floats, graph_of, only


def closures(function: Callable[..., Any], *names: str) -> list[Closure]:
    """The closures in which the operators ``names`` of a network's construct stand."""
    graph = graph_of(function, floats(2, 3))
    return [only(graph, name).extra.closure for name in names]


def inside(closure: Closure, around: Closure) -> bool:
    return closure is not around and around in closure.path()


def test_statements_in_a_row_share_one() -> None:
    def straight(net: Any, x: Any) -> Any:
        y = ops.Exp()(x)
        return ops.Tanh()(y)

    first, second = closures(straight, "Exp", "Tanh")
    assert first is second


def test_a_side_is_inside_and_what_follows_is_beside_it() -> None:
    def choice(net: Any, x: Any) -> Any:
        y = ops.Exp()(x)
        if x.shape[0] > 1:
            y = ops.Tanh()(y)
        return ops.Sigmoid()(y)

    before, side, after = closures(choice, "Exp", "Tanh", "Sigmoid")
    assert inside(side, before)
    assert inside(after, before)
    assert not inside(after, side)
    assert not inside(side, after)


def test_what_follows_a_choice_by_an_attribute_is_inside_it() -> None:
    class Choice(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.flag = True

        def construct(self, x: Any) -> Any:
            if self.flag:
                x = ops.Tanh()(x)
            return ops.Sigmoid()(x)

    with compiled() as graphs:
        Choice()(floats(2, 3))
    side, after = (only(graphs[0], name).extra.closure for name in ("Tanh", "Sigmoid"))
    assert inside(after, side)


def test_both_sides_of_a_conditional_expression() -> None:
    def choice(net: Any, x: Any) -> Any:
        y = ops.Tanh()(x) if x.shape[0] > 1 else x
        return ops.Exp()(y)

    side, around = closures(choice, "Tanh", "Exp")
    assert inside(side, around)


def _each(net: Any, x: Any) -> Any:
    for operator in (ops.Exp(), ops.Tanh()):
        x = operator(x)
    return ops.Sigmoid()(x)


def _listed(net: Any, x: Any) -> Any:
    y = [operator(x) for operator in (ops.Exp(), ops.Tanh())]
    return ops.Sigmoid()(y[0]) * y[1]


@pytest.mark.parametrize(("loop", "last_is_inside"), [(_each, True), (_listed, False)], ids=["for", "list"])
def test_each_turn_is_inside_the_one_before(loop: Callable[..., Any], last_is_inside: bool) -> None:
    first, second, after = closures(loop, "Exp", "Tanh", "Sigmoid")
    assert inside(second, first)
    assert inside(after, second) is last_is_inside
    assert first.waits
    assert second.waits


def test_a_choice_in_a_loop_is_another_one_in_each_turn() -> None:
    def loop(net: Any, x: Any) -> Any:
        for turn, operator in enumerate((ops.Exp(), ops.Tanh())):
            x = operator(x) if turn < 2 else x
        return x

    first, second = closures(loop, "Exp", "Tanh")
    assert first is not second
    assert not inside(first, second)


def test_a_loop_that_is_entered_again_starts_anew() -> None:
    def nested(net: Any, x: Any) -> Any:
        for outer in (0, 1):
            for operator in ((ops.Exp(),), (ops.Tanh(),))[outer]:
                x = operator(x)
        return x

    first, second = closures(nested, "Exp", "Tanh")
    assert len(second.path()) > len(first.path())


def test_the_call_of_a_cell_may_be_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    def depth() -> int:
        with compiled() as graphs:
            nn.SequentialCell(nn.Tanh())(floats(2, 3))
        return len(only(graphs[0], "Tanh").extra.closure.path())

    plain = depth()
    call = nn.Cell.__call__

    def wrapped(self: nn.Cell, *args: Any) -> Any:
        return call(self, *args)

    monkeypatch.setattr(nn.Cell, "__call__", wrapped)
    assert depth() == plain


def test_the_first_effect_makes_the_call_one_of_the_parent() -> None:
    parent = Closure(None)
    parent.affect(None)
    child = Closure(parent)
    child.affect(None)
    child.affect(None)
    assert parent.effects == [None, child]
    assert child.at == 1


def test_layers_count_the_functions_they_consist_of() -> None:
    with compiled() as graphs:
        nn.SequentialCell(nn.Tanh(), nn.Flatten())(floats(2, 3, 1))
    tanh, flatten = (only(graphs[0], name).extra.closure.path() for name in ("Tanh", "Flatten"))
    assert len(flatten) > len(tanh)


def test_a_networks_own_functions_are_closures() -> None:
    def helper(x: Any) -> Any:
        return ops.Tanh()(x)

    def outer(net: Any, x: Any) -> Any:
        return helper(ops.Exp()(x))

    graph = graph_of(outer, floats(2, 3))
    assert inside(only(graph, "Tanh").extra.closure, only(graph, "Exp").extra.closure)
    assert isinstance(Net(outer), nn.Cell)


#: how many function graphs lie between a construct and the operator (``01_type_inference`` of MindSpore 2.10.0)
DEPTHS = {
    "abs method": (lambda x: x.abs(), "Abs", 0),
    "abs": (ops.abs, "Abs", 1),
    "square": (lambda x: x * x, "Mul", 1),
    "reduce_mean": (ops.reduce_mean, "ReduceMean", 0),
    "chunk": (lambda x: ops.chunk(x, 3, -1)[0], "Split", 10),
    "cumsum": (lambda x: ops.cumsum(x, 0), "CumSum", 2),
}


@pytest.mark.parametrize("name", DEPTHS)
def test_library_functions_are_as_deep_as_measured(name: str) -> None:
    form, op, depth = DEPTHS[name]

    def direct(net: Any, x: Any) -> Any:
        return ops.Exp()(x), form(x)

    around, found = closures(direct, "Exp", op)
    level = found.level if found.level is not None else len(found.path()) - len(around.path()) - 1
    assert level + 1 == depth
