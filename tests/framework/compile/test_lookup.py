"""The order in which a function graph looks up functions."""

from __future__ import annotations

import ast
import sys
from typing import Any

from harness import Parameter, Tensor
from harness.framework.compile.lookup import looked_up


def call(*_: Any) -> list[str]:
    """Names looked up by the caller so far."""
    found = looked_up(sys._getframe(1))
    return [ast.unparse(node.func) for node, is_entered in found if isinstance(node, ast.Call) and not is_entered]


def a(x: Any) -> Any:
    return x


b = c = a


def test_arguments_come_behind_the_name_of_a_call() -> None:
    def one() -> Any:
        return a(call())

    def two() -> Any:
        return b(a(call()))

    assert one() == ["a"]
    assert two() == ["b", "a"]


def test_variables_are_followed_from_the_result() -> None:
    def function() -> Any:
        x = call()
        y = b(0)
        return a(x), y

    assert function()[0] == ["a"]


def test_what_stands_before_it_in_the_result_comes_first() -> None:
    def function() -> Any:
        x = call()
        y = b(0)
        return c(y), x

    assert function()[1] == ["c", "b"]


def test_sides_of_a_choice_count_and_what_follows_it_does_not() -> None:
    def function(n: int) -> Any:
        x = call()
        if n > 0:
            x = a(x)
        return b(x)

    assert function(1) == ["a"]


def test_a_choice_by_an_attribute_is_decided() -> None:
    class Holder:
        flag = True

        def construct(self) -> Any:
            x = call()
            if self.flag:
                x = a(x)
            else:
                x = c(x)
            return b(x)

    assert Holder().construct() == ["b", "a"]


def test_turns_of_a_loop_are_graphs_of_their_own() -> None:
    def before() -> Any:
        x = call()
        for _ in range(2):
            x = a(x)
        return b(x)

    def within() -> Any:
        x = None
        for _ in (0,):
            x = call()
            x = a(x)
        return b(x)

    assert "a" not in before()
    assert within() == ["a"]


def test_an_augmented_variable_keeps_what_it_was() -> None:
    def function() -> Any:
        x = call()
        x += b([])
        return c(x)

    assert function() == ["c"]


def test_a_function_without_source_looks_nothing_up() -> None:
    scope: dict[str, Any] = {"looked_up": looked_up, "sys": sys}
    exec("def f():\n    return list(looked_up(sys._getframe(0)))\nfound = f()", scope)
    assert scope["found"] == []


def test_what_nothing_reads_comes_first() -> None:
    def function() -> Any:
        idle = b(0)  # noqa: F841
        c(1)
        return a(call())

    assert function() == ["c", "b", "a"]


def test_a_value_read_later_is_no_idle_one() -> None:
    def function() -> Any:
        late = b(0)
        x = a(call())
        c(2)
        return x, late

    assert function()[0] == ["c", "a"]


def test_a_parameter_decides_nothing_yet() -> None:
    class Holder:
        count = Parameter(Tensor(3), name="count")
        mask = None

        def run(self) -> Any:
            y = a(0)
            if self.count % 2 == 0:
                y = b(y)
            return c(y), call()

        def fixed(self) -> Any:
            y = a(0)
            if self.count is None or self.mask is not None:
                y = b(y)
            return c(y), call()

    assert "b" in Holder().run()[1]
    assert "b" not in Holder().fixed()[1]
