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
from harness.framework.tensor import Parameter
from harness.graph import Node

ARGUMENT = "Argument"


def apart(
    active: Any,
    function: Callable[..., Any],
    args: Sequence[Any],
    positions: Sequence[int],
    weights: Sequence[Parameter] = (),
) -> list[Any]:
    """The arguments; those at ``positions``, and parameters, that the function has another way, too (a parameter as one
    of its ``weights`` or as a cell's own), as nodes of their own."""
    owned = function.get_parameters() if hasattr(function, "get_parameters") else ()
    held = list({id(weight): weight for weight in (*weights, *owned)}.values())
    ways = Counter(map(_identity, (*_values(args), *_captured(function, set()), *held)))
    apart = [at in positions or isinstance(arg, Parameter) for at, arg in enumerate(args)]
    return [_own(active, arg, ways) if own else arg for own, arg in zip(apart, args, strict=True)]


def _identity(value: Traced | Parameter) -> int:
    return id(value.operand) if isinstance(value, Traced) else id(value)


def _own(active: Any, value: Any, ways: Counter[int]) -> Any:
    if isinstance(value, tuple):
        return tuple(_own(active, member, ways) for member in value)
    if not isinstance(value, (Traced, Parameter)) or ways[_identity(value)] < 2:
        return value
    operand = active.operand(value)
    node: Node = active.virtual(ARGUMENT, [operand], operand.spec)
    return Traced(node, operand.spec)


def _values(value: Any) -> Iterator[Traced | Parameter]:
    """The traced values and parameters in a (nested) tuple or list."""
    if isinstance(value, (Traced, Parameter)):
        yield value
    elif isinstance(value, (tuple, list)):
        for member in value:
            yield from _values(member)


def _captured(function: Any, seen: set[int]) -> Iterator[Traced | Parameter]:
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
