"""Tuples that a function takes apart or gives: each name that one is unpacked into is the result of a call of its own.

Source: the graphs of MindSpore 2.10.0 before they are put into each other (``MS_DEV_SAVE_GRAPHS``), measured
(``tests/data/graphs/nets/taken_out.py``).
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any

from harness.framework import frames
from harness.framework.compile.closure import Closure
from harness.framework.compile.source import Function, is_users
from harness.framework.compile.traced import Traced
from harness.framework.frames import Frame


def note_unpacked(function: Function | None, frame: Frame, closure: Closure) -> None:
    """Notes in ``closure`` the values that a running ``function`` of the user's has unpacked by now."""
    if function is None or not is_users(frames.file_of(frame)):
        return
    closure.unread, names = leaves_unread(function), frames.names_of(frame)
    for name, depth in unpacked_names(function).items():
        value = names.get(name)
        if isinstance(value, Traced):
            closure.unpacked.setdefault(id(value.operand), depth)


@lru_cache(maxsize=16384)
def unpacked_names(function: ast.stmt) -> dict[str, int]:
    """The names that a function unpacks tuples into, and how many tuples, one in the other, each is taken out of."""
    found: dict[str, int] = {}

    def take(target: ast.expr, depth: int) -> None:
        if isinstance(target, ast.Name) and depth:
            found[target.id] = depth
        elif isinstance(target, (ast.Tuple, ast.List)):
            for each in target.elts:
                take(each, depth + 1)

    for statement in ast.walk(function):
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                take(target, 0)
    return found


_COMPUTED = ast.Subscript | ast.BinOp


@lru_cache(maxsize=16384)
def leaves_unread(function: ast.stmt) -> bool:
    """Whether a function takes something out of a tuple, or computes something, whatever it is, under a name that
    nothing reads; an attribute of a value does not count, nor does a call, which shows by what it made (measured)."""
    nodes = [*ast.walk(function)]
    read = {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    picked = (each for each in nodes if isinstance(each, ast.Assign) and isinstance(each.value, _COMPUTED))
    names = {target.id for each in picked for target in each.targets if isinstance(target, ast.Name)}
    return not read >= {*names, *unpacked_names(function)}


def members(given: Any) -> tuple[int, ...]:
    """The values of a tuple that a function gives, in order, each by its id; none of any other result."""
    if not isinstance(given, (tuple, list)):
        return ()
    return tuple(id(each.operand) for each in given if isinstance(each, Traced))
