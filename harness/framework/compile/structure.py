"""Lists and dicts in what a traced function gives: the graph returns tuples, the caller gets what was written.

Source: MindSpore 2.10.0, measured: a list stays a list, a dict a dict, also inside tuples.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator, ItemsView, Iterator, KeysView, ValuesView
from types import FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np

from harness.framework.compile.callers import CallersDict, CallersList, own
from harness.framework.outside import Opaque
from harness.framework.tensor import Tensor, gives_as_graph


class Structure(NamedTuple):
    """How a tuple is put together again: ``list``, ``dict`` (with its keys) or ``tuple``, and its members' structures
    (None for a member that stays as it is)."""

    kind: type
    keys: tuple[Any, ...]
    members: tuple[Structure | None, ...]


class Held:
    """The kind of a result that no graph holds, and that the caller gets as it is: the only key."""


class Itself:
    """An object that is equal to nothing else; numpy's arrays are equal element by element."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Number:
    """The kind of a result that is a number: the only key is its Python type."""


#: what a graph has a form of its own for, or cannot give
_NOT_HELD = (
    Tensor, bool, int, float, complex, str, tuple, list, dict, range, FunctionType, MethodType, Iterator, ItemsView,
    KeysView, ValuesView, np.generic,
)  # fmt: skip


def is_held(value: Any) -> bool:
    """Whether a result is an object that the graph gives its caller as it is: an array, a type, what was made by the
    way. A layer or a function is none (measured)."""
    if isinstance(value, (type, Opaque)):
        return True
    return value is not None and not isinstance(value, _NOT_HELD) and not hasattr(value, "construct")


def taken_apart(value: Any) -> tuple[Any, Structure | None]:
    """A result with tuples in place of lists and dicts, and None in place of what no graph holds; and its
    structure (None if it had none of them)."""
    if is_held(value) and gives_as_graph():
        return None, Structure(Held, (Itself(value.value if isinstance(value, Opaque) else value),), ())
    if (callers := own(value)) is not None:
        return None, Structure(Held, (Itself(callers),), ())
    if (number := getattr(type(value), "number", None)) is not None and gives_as_graph():
        return value, Structure(Number, (number(value),), ())
    value = _as_graphs_give(value) if gives_as_graph() else value
    value = tuple(value) if isinstance(value, ValuesView) else value
    value = dict(value) if type(value) is OrderedDict else value
    if type(value) not in (list, tuple, dict) and not _is_named(value):
        return value, None
    parts = [taken_apart(member) for member in (value.values() if isinstance(value, dict) else value)]
    members = tuple(structure for _, structure in parts)
    if type(value) is tuple and not any(members):
        return tuple(part for part, _ in parts), None
    keys = tuple(value) if isinstance(value, dict) else ()
    return tuple(part for part, _ in parts), Structure(type(value), keys, members)


def put_together(value: Any, structure: Structure | None) -> Any:
    """The result as it was written."""
    if structure is None:
        return value
    if structure.kind is Held:
        held: Itself = structure.keys[0]
        return held.value
    if structure.kind is Number:
        return structure.keys[0](value.asnumpy().item())
    members = [put_together(part, inner) for part, inner in zip(value, structure.members, strict=True)]
    if structure.kind is dict:
        return dict(zip(structure.keys, members, strict=True))
    return structure.kind(*members) if hasattr(structure.kind, "__match_args__") else structure.kind(members)


def _is_named(value: Any) -> bool:
    """Whether it is a named tuple."""
    return isinstance(value, tuple) and hasattr(value, "__match_args__")


def _as_graphs_give(value: Any) -> Any:
    """What a parser makes of what gives its members one by one, and of numpy's numbers (measured)."""
    if isinstance(value, (Generator, map, filter, ItemsView)):
        return list(value)
    if isinstance(value, (range, enumerate, zip, KeysView, ValuesView)):
        return tuple(value)
    if isinstance(value, (CallersList, CallersDict)):
        return list(value) if isinstance(value, list) else dict(value)
    return value.item() if isinstance(value, np.generic) else value
