"""Tuples, lists and dicts whose members are inputs of a graph.

A graph takes a tensor as an input, but a tuple, list or dict as a constant, unless it comes from ``mutable`` or goes to
an optimizer; a dump has no file for the members of one either way. Source: MindSpore 2.10.0, measured.
"""

from __future__ import annotations

from typing import Any, TypeGuard


class MutableTuple(tuple[Any, ...]):
    """A tuple whose members are inputs."""

    __slots__ = ()


class MutableList(list[Any]):
    """A list whose members are inputs."""


class MutableDict(dict[Any, Any]):
    """A dict whose values are inputs."""


Mutable = MutableTuple | MutableList | MutableDict


def mutable(given: Any) -> Any:
    """``given`` with its members, at any depth, as inputs of a graph; a value that is no container as it is."""
    if isinstance(given, dict):
        return MutableDict((key, mutable(value)) for key, value in given.items())
    if isinstance(given, (tuple, list)):
        return (MutableTuple if isinstance(given, tuple) else MutableList)(map(mutable, given))
    return given


def is_mutable(value: Any) -> TypeGuard[Mutable]:
    """Whether the members of a container are inputs."""
    return isinstance(value, (MutableTuple, MutableList, MutableDict))
