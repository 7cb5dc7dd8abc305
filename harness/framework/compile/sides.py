"""What a way that is traced beside another must not do: whatever is not part of the graph would be done for both.

Both ways of an ``if`` on a tensor are traced, and the body of a ``while`` once. A ``raise`` there, and a list or dict
that changes, depend on the tensor: the function is then traced at each call, with the way its values take.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import CodeType, TracebackType
from typing import Any

from harness.errors import DecidedLateError
from harness.framework import frames
from harness.framework.compile.source import is_users, where

_RAISE = dis.opmap["RAISE_VARARGS"]
#: how far a list in a list is looked at
_DEPTH = 4
#: how often a function may stand in one of its own ways
_DEEPEST = 16


_ways: ContextVar[tuple[CodeType, ...]] = ContextVar("ways", default=())
_conditions: ContextVar[int] = ContextVar("conditions", default=0)


def is_under_condition() -> bool:
    """Whether what runs is one of several ways."""
    return _conditions.get() > 0


@contextmanager
def within(code: CodeType) -> Iterator[None]:
    """Traces a way of a condition in a function with this code within the block.

    Raises:
        DecidedLateError: the function calls itself on that way, and its tensors decide when that ends.
    """
    ways = _ways.get()
    if ways.count(code) >= _DEEPEST:
        raise DecidedLateError(f"a condition on a tensor ends a recursion, at {where()}")
    token = _ways.set((*ways, code))
    try:
        yield
    finally:
        _ways.reset(token)


@contextmanager
def one_way(scope: Mapping[str, Any]) -> Iterator[None]:
    """Traces one of several ways within the block.

    Args:
        scope: the names around it, and what they hold.

    Raises:
        DecidedLateError: the user's source raises an error there, or a list or dict of ``scope`` is another one then.
    """
    before = _contents(scope)
    token = _conditions.set(_conditions.get() + 1)
    try:
        yield
    except Exception as error:
        if not isinstance(error, DecidedLateError) and _is_raised(error.__traceback__):
            raise DecidedLateError(f"an error is raised under a condition on a tensor, at {where()}") from error
        raise
    finally:
        _conditions.reset(token)
    if _contents(scope) != before:
        raise DecidedLateError(f"a list or dict changes under a condition on a tensor, at {where()}")


def _is_raised(trace: TracebackType | None) -> bool:
    """Whether a traceback ends at a ``raise`` or ``assert`` of the user's."""
    passed = [*frames.traced_back(trace)]
    if not passed:
        return False
    frame, instruction, _line = passed[-1]
    return is_users(frames.file_of(frame)) and frames.code_of(frame).co_code[instruction] == _RAISE


def _contents(scope: Mapping[str, Any]) -> list[Any]:
    found: list[Any] = []
    for value in scope.values():
        owned = vars(value) if hasattr(type(value), "construct") else {}
        for each in (value, *owned.values()):
            _look(each, found, _DEPTH)
    return found


def _look(value: Any, found: list[Any], depth: int) -> None:
    """Adds the members of a list or dict, and of those in it; what is in them is told by identity."""
    if type(value) not in (list, dict, tuple) or not depth:
        return
    members = list(value.values()) if isinstance(value, dict) else value
    found.append((id(value), tuple(value) if isinstance(value, dict) else (), tuple(map(id, members))))
    for member in members:
        _look(member, found, depth - 1)
