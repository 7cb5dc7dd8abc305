"""Places in the source of a function, and what its syntax tree has there."""

from __future__ import annotations

import ast
from functools import lru_cache
from types import CodeType

from harness.framework import frames
from harness.framework.frames import Frame

SourcePosition = tuple[int, int]


@lru_cache(maxsize=16384)
def is_attribute(test: ast.expr) -> bool:
    """Whether a condition is known when the function is parsed: it names attributes of ``self`` only."""
    return is_fixed(test) and any(isinstance(n, ast.Name) for n in ast.walk(test))


@lru_cache(maxsize=16384)
def is_fixed(test: ast.expr) -> bool:
    """Whether a condition depends on attributes of ``self`` and constants only."""
    names = {n.id for n in ast.walk(test) if isinstance(n, ast.Name)}
    return names <= {"self"} and not any(isinstance(n, ast.Call) for n in ast.walk(test))


def holds(node: ast.stmt | ast.expr, place: SourcePosition) -> bool:
    return (node.lineno, node.col_offset) <= place < end_of(node)


def end_of(node: ast.stmt | ast.expr) -> SourcePosition:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def place_of(frame: Frame) -> SourcePosition:
    """The place of a frame in its source."""
    return _place(frames.code_of(frame), frames.instruction_of(frame))


@lru_cache(maxsize=16384)
def _place(code: CodeType, lasti: int) -> SourcePosition:
    line, _line_end, column, _column_end = frames.span_in(code, lasti)
    return line or 0, column or 0


@lru_cache(maxsize=16384)
def gives_several(function: ast.stmt, place: SourcePosition) -> bool:
    """Whether the ``return`` at ``place`` gives a tuple that is written there."""
    returns = (each for each in ast.walk(function) if isinstance(each, ast.Return))
    return any(isinstance(each.value, (ast.Tuple, ast.List)) for each in returns if holds(each, place))


@lru_cache(maxsize=16384)
def picks(function: ast.stmt, place: SourcePosition) -> bool:
    """Whether the ``return`` at ``place`` gives one of several results of a call."""
    statements = [each for each in ast.walk(function) if isinstance(each, (ast.Return, ast.Assign))]
    at = next((s for s in statements if isinstance(s, ast.Return) and holds(s, place)), None)
    value = at.value if at is not None else None
    before = sorted((s for s in statements if isinstance(s, ast.Assign)), key=lambda s: (s.lineno, s.col_offset))
    while isinstance(value, ast.Name):
        name, value = value.id, None
        while before and value is None:
            statement = before.pop()
            for target in statement.targets if end_of(statement) <= place else ():
                stored = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
                if name in stored and isinstance(target, ast.Tuple):
                    return isinstance(statement.value, ast.Call)
                value = statement.value if name in stored else value
    return isinstance(value, ast.Subscript) and isinstance(value.value, ast.Call)
