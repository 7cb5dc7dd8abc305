"""Names that functions unpack tuples into, each the result of a call."""

from __future__ import annotations

import ast
from typing import Any

from harness import ops
from harness.framework.compile.unpacked import leaves_unread, members, unpacked_names
from tests.framework.compile.build import floats, graph_of, only


def names(source: str) -> dict[str, int]:
    return unpacked_names(ast.parse(source).body[0])  # type: ignore[arg-type]


def test_each_tuple_around_a_name_is_one() -> None:
    assert names("def f(x):\n    a = x\n    b, (c, [d, e]) = x\n    return a") == {"b": 1, "c": 2, "d": 3, "e": 3}


def test_a_value_crosses_the_calls_that_unpack_it() -> None:
    def pair(x: Any) -> Any:
        return ops.Exp()(x), ops.Tanh()(x)

    def both(net: Any, x: Any) -> Any:
        a, _ = pair(x)
        return ops.Sigmoid()(a)

    graph = graph_of(both, floats(2, 3))
    user, value = only(graph, "Sigmoid"), only(graph, "Exp")
    assert user.extra.closure.unpacks(value) == 1
    assert value.extra.closure.unpacks(value) == 0


def test_members_are_the_values_of_a_tuple() -> None:
    assert members(3) == members((1, None)) == ()


def unread(body: str) -> bool:
    return leaves_unread(ast.parse(f"def f(x):\n    {body}\n    return x").body[0])  # type: ignore[arg-type]


def test_what_is_taken_or_computed_and_not_read_counts() -> None:
    assert unread("b, t, _ = x.shape; x = x + b + t")
    assert unread("n = x[0]")
    assert unread("n = 3 * 2")
    assert not unread("a, b = x; x = a + b")
    assert not unread("s = x.shape; y = x; z = f(x)")
