"""Arguments of a differentiated function that reach it another way, too.

A gradient is that of the function in its arguments alone. A value that stands for two of them, or that the function
also takes from outside (a closure), would be one value of the graph. While the graph is traced, a node ``Argument``
keeps the argument apart; simplification removes it.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from harness.framework.compile.traced import Traced
from harness.framework.frames import captured
from harness.graph import Node

ARGUMENT = "Argument"


def apart(active: Any, function: Callable[..., Any], args: Sequence[Any], positions: Sequence[int]) -> list[Any]:
    """The arguments; those at ``positions`` that the function has another way, too, as nodes of their own."""
    ways = Counter(id(value.operand) for value in (*_values(args), *_captured(function, set())))
    return [_own(active, arg, ways) if at in positions else arg for at, arg in enumerate(args)]


def _own(active: Any, value: Any, ways: Counter[int]) -> Any:
    if isinstance(value, tuple):
        return tuple(_own(active, member, ways) for member in value)
    if not isinstance(value, Traced) or ways[id(value.operand)] < 2:
        return value
    node: Node = active.virtual(ARGUMENT, [value.operand], value.spec)
    return Traced(node, value.spec)


def _values(value: Any) -> Iterator[Traced]:
    """The traced values in a (nested) tuple or list."""
    if isinstance(value, Traced):
        yield value
    elif isinstance(value, (tuple, list)):
        for member in value:
            yield from _values(member)


def _captured(function: Any, seen: set[int]) -> Iterator[Traced]:
    """The traced values that a function, and the functions it takes from outside, take from outside."""
    if id(function) in seen:
        return
    seen.add(id(function))
    if isinstance(function, functools.partial):
        held: list[Any] = [function.func, *function.args, *function.keywords.values()]
    else:
        held = [*captured(function).values()]
        held += getattr(function, "__defaults__", None) or ()
    yield from _values(held)
    for value in held:
        if callable(value):
            yield from _captured(value, seen)
