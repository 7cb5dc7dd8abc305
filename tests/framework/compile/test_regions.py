"""Control flow: kernel graphs, their ids, what crosses their borders, and what is computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import Tensor, ops
from harness.framework.compile.regions import Block, Control, Region, numbered, regions_of
from harness.graph import Node, Parameter
from tests.framework.compile.build import Net, compiled, floats, kernels


def block(*kinds: str) -> Block:
    """A block of simple branches (``b``) and loops (``l``) between regions."""
    items: list[Region | Control] = [Region()]
    for kind in kinds:
        result = Node("Switch", [], {}, "Default", Parameter("p", None, False).spec)  # type: ignore[arg-type]
        sides = Block([Region()]), Block([Region()])
        items += [Control(result, Parameter("p", None, False) if kind == "b" else None, *sides), Region()]  # type: ignore[arg-type]
    return Block(items)


def sequence(main: Block) -> list[str]:
    """Regions in the order of their ids: ``0``, ``1``, ... on the main line, ``1t`` and ``1f`` its first control."""
    names: dict[int, str] = {}
    for at, item in enumerate(main.items):
        if isinstance(item, Region):
            names[id(item)] = str(at // 2)
        else:
            names[id(item.first.items[0])] = f"{at // 2 + 1}t"
            names[id(item.second.items[0])] = f"{at // 2 + 1}f"
    return [names[id(region)] for region in numbered(main)]


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ("", ["0"]),
        ("b", ["0", "1", "1t", "1f"]),
        ("l", ["0", "1t", "1f", "1"]),
        ("bl", ["0", "1", "2t", "2f", "2", "1t", "1f"]),
        ("bb", ["0", "1", "2", "2t", "1t", "1f", "2f"]),
        ("ll", ["0", "1t", "1f", "1", "2t", "2f", "2"]),
        ("lb", ["0", "1", "2", "2t", "1t", "1f", "2f"]),
    ],
)
def test_ids(kinds: str, expected: list[str]) -> None:
    """As measured (``tests/data/graphs``; the last one: ``tests/gate/networks/control.py``)."""
    assert sequence(block(*kinds)) == expected


@given(st.text("bl", max_size=6))
def test_every_region_has_an_id(kinds: str) -> None:
    main = block(*kinds)
    assert sorted(map(id, numbered(main))) == sorted(map(id, regions_of(main)))


def test_what_crosses_is_a_nameless_parameter() -> None:
    with compiled() as graphs:
        Net(lambda net, x: ops.cond(x.sum() > 0, ops.sin, ops.cos, ops.exp(x)))(floats(2, 3))
    root, after, *sides = graphs
    assert [p.name for p in root.parameters] == ["inputs0"]
    assert all(p.name == "" and not p.is_weight for graph in (after, *sides) for p in graph.parameters)
    assert [kernels(graph) for graph in sides] == [["Sin"], ["Cos"]]
    assert {graph.root_id for graph in graphs} == {0}


def test_a_parameter_keeps_its_name_on_every_side() -> None:
    def both(net: Any, x: Any) -> Any:
        return ops.cond(x.sum() > 0, lambda x: x * net.w, lambda x: x - net.w, x)

    with compiled() as graphs:
        Net(both)(floats(2, 3))
    assert [[p.name for p in graph.parameters if p.is_weight] for graph in graphs[2:]] == [["w"], ["w"]]


def run(function: Callable[..., Any], x: np.ndarray) -> Any:
    with compiled():
        return Net(function)(Tensor(x)).asnumpy()


@settings(deadline=None, max_examples=20)
@given(st.floats(-4, 4, width=16))
def test_a_branch_computes_one_side(start: float) -> None:
    x = np.array([start], np.float32)
    got = run(lambda net, x: ops.cond(x.sum() > 0.5, lambda x: x * 2, lambda x: x - 3, x) + 1, x)
    expected = x * 2 + 1 if start > 0.5 else x - 3 + 1
    np.testing.assert_array_equal(got, expected.astype(np.float32))


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 12))
def test_a_loop_runs_as_often_as_it_should(times: int) -> None:
    def count(net: Any, x: Any) -> Any:
        done, total = ops.while_loop(
            lambda state: state[0].sum() < times, lambda state: (state[0] + 1, state[1] + state[0]), (x, x)
        )
        return ops.concat((done, total))

    got = run(count, np.zeros(1, np.float32))
    assert got.tolist() == [times, times * (times - 1) / 2]


def test_a_loop_may_not_run_at_all() -> None:
    got = run(lambda net, x: ops.while_loop(lambda x: x.sum() > 100, lambda x: x * 2, x) + 1, np.ones(2, np.float32))
    assert got.tolist() == [2, 2]


def test_loops_and_branches_inside_one_another() -> None:
    def collatz(net: Any, x: Any) -> Any:
        def even(state: Any) -> Any:
            value, steps = state
            return value / 2, steps + 1

        def odd(state: Any) -> Any:
            value, steps = state
            return value * 3 + 1, steps + 1

        def turn(state: Any) -> Any:
            return ops.cond((state[0] % 2).sum() == 0, even, odd, state)

        return ops.while_loop(lambda state: state[0].sum() > 1, turn, (x, x * 0))[1]

    def turns(n: int) -> int:
        return 0 if n == 1 else 1 + turns(n // 2 if n % 2 == 0 else 3 * n + 1)

    for n in (1, 6, 7, 27):
        assert run(collatz, np.array([n], np.float32)).tolist() == [turns(n)]


def test_both_sides_may_give_back_what_they_got() -> None:
    got = run(lambda net, x: ops.cond(x.sum() > 0, lambda x: x, lambda x: -x, x) * 2, np.array([-3], np.float32))
    assert got.tolist() == [6]


def test_a_value_from_before_is_used_after() -> None:
    def after(net: Any, x: Any) -> Any:
        before = ops.exp(x)
        x = ops.cond(x.sum() > 0, ops.sin, ops.cos, x)
        x = ops.while_loop(lambda x: x.sum() > 0, lambda x: x - before, x)
        return x + before

    x = np.array([0.5], np.float32)
    before = np.exp(x.astype(np.float64)).astype(np.float32)
    expected = np.sin(x.astype(np.float64)).astype(np.float32)
    while expected.sum() > 0:
        expected = expected - before
    np.testing.assert_array_equal(run(after, x), expected + before)


def test_an_update_inside_a_branch_happens_on_that_side_only() -> None:
    def update(net: Any, x: Any) -> Any:
        def yes(x: Any) -> Any:
            ops.assign_add(net.w, x)
            return x * 1.5

        return ops.cond(x.sum() > 0, yes, lambda x: x * 0.5, x)

    with compiled():
        net = Net(update)
        net(floats(2, 3))
        once = net.w.asnumpy().copy()
        net(Tensor(-floats(2, 3).asnumpy()))
    np.testing.assert_array_equal(once, 1 + floats(2, 3).asnumpy())
    np.testing.assert_array_equal(net.w.asnumpy(), once)


def test_control_flow_nobody_needs_is_not_run() -> None:
    def wasteful(net: Any, x: Any) -> Any:
        ops.cond(x.sum() > 0, ops.sin, ops.cos, x)
        ops.while_loop(lambda x: x.sum() > 1, lambda x: x * 0.5, x)
        return ops.tanh(x)

    with compiled() as graphs:
        out = Net(wasteful)(floats(2, 3))
    assert [kernels(graph) for graph in graphs] == [["Tanh"]]
    assert out.shape == (2, 3)


def test_control_flow_that_updates_is_run_though_nobody_needs_its_result() -> None:
    def update(net: Any, x: Any) -> Any:
        def add(x: Any) -> Any:
            ops.assign_add(net.w, x)
            return x * 2

        ops.cond(x.sum() > 0, add, lambda x: x * 3, x)
        return ops.tanh(x)

    with compiled():
        net = Net(update)
        net(floats(2, 3))
    np.testing.assert_array_equal(net.w.asnumpy(), 1 + floats(2, 3).asnumpy())


def test_a_python_bool_decides_while_tracing() -> None:
    with compiled() as graphs:
        Net(lambda net, x: ops.cond(True, ops.sin, ops.cos, x))(floats(2, 3))
    assert [kernels(graph) for graph in graphs] == [["Sin"]]
