"""Finds the place of a node in the user's (and the layers') source."""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import sysconfig
import textwrap
import threading
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

from harness.framework import frames
from harness.framework.frames import Chosen, Frame
from harness.graph import SourceLine

_HARNESS = str(Path(__file__).resolve().parents[2])
_OURS = (_HARNESS, str(Path(_HARNESS).with_name("pytest_msdump")) + os.sep, "<frozen")
#: packages whose frames a reader wants to see: layers are source, the code below them is not
_SHOWN = (str(Path(_HARNESS, "framework", "nn")),)
_HIDDEN_FILES = tuple(str(Path(_HARNESS, "framework", "nn", name)) for name in ("calls.py", "cell.py", "settings.py"))

_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>")

_Span = tuple[int, int, int, int]

#: Python's own library (contextlib, functools) never counts as source
_LIBRARY = sysconfig.get_paths()["stdlib"]


@lru_cache(maxsize=4096)
def is_users(filename: str) -> bool:
    """Whether a file is neither this package's, nor the plugin's, nor Python's own."""
    inside = filename.startswith(_OURS)
    return not inside and not (filename.startswith(_LIBRARY) and "site-packages" not in filename)


@lru_cache(maxsize=4096)
def is_shown(filename: str) -> bool:
    """Whether the lines of a file are source to a reader of graphs: the user's files and the layers."""
    if is_users(filename):
        return True
    return filename.startswith(_SHOWN) and filename not in _HIDDEN_FILES


Function = ast.FunctionDef | ast.AsyncFunctionDef
_parsing = threading.Lock()


def syntax_tree(text: str) -> ast.Module:
    """``ast.parse``, by one thread at a time: CPython 3.11 counts the depth of a tree for all threads together, and
    raises ``SystemError`` where two parse at once."""
    with _parsing:
        return ast.parse(text)


class _Syntax:
    """A source file's functions, and the spans of its functions and calls, which bytecode alone does not give."""

    def __init__(self, filename: str) -> None:
        #: (first line, name) -> span of a function; span of a call -> span of what is called
        self.functions: dict[tuple[int, str], _Span] = {}
        self.calls: dict[_Span, _Span] = {}
        #: (name, first line with decorators) -> the function; only of a file that exists
        self.nodes: dict[tuple[str, int], Function] = {}
        linecache.checkcache(filename)
        exists = os.path.isfile(filename)
        try:
            tree = syntax_tree("".join(linecache.getlines(filename)))
        except (SyntaxError, ValueError):
            return
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
                self.functions[first, node.name] = _span(node)
                if exists:
                    self.nodes[node.name, min([node.lineno, *(d.lineno for d in node.decorator_list)])] = node
            elif isinstance(node, ast.Call):
                self.calls[_span(node)] = _span(node.func)


def _span(node: ast.expr | ast.stmt) -> _Span:
    return node.lineno, node.end_lineno or node.lineno, node.col_offset, node.end_col_offset or 0


_syntax = lru_cache(maxsize=512)(_Syntax)


def function_of(code: CodeType) -> Function | None:
    """The syntax tree of a function, or None if its source cannot be read."""
    return _syntax(code.co_filename).nodes.get((code.co_name, code.co_firstlineno))


def parsed(code: CodeType) -> ast.FunctionDef | None:
    """A syntax tree of a function's own, to be changed; None if its source cannot be read."""
    try:
        lines, first = inspect.getsourcelines(code)
        tree = syntax_tree(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError, TypeError):
        return None
    indent = len(lines[0]) - len(lines[0].lstrip())
    node: Any
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno += first - 1
            node.end_lineno += first - 1
            node.col_offset += indent
            node.end_col_offset += indent
    found = tree.body[0]
    return found if isinstance(found, ast.FunctionDef) else None


def _source_line(filename: str, span: _Span) -> SourceLine:
    line, line_end, column, column_end = span
    text = linecache.getline(filename, line).rstrip("\n")
    # A span from the margin is printed without columns (measured).
    known = column > 0
    return SourceLine(filename, line, line_end, column if known else None, column_end if known else None, text)


@lru_cache(maxsize=16384)
def _lines(code: CodeType, filename: str, lasti: int, innermost: bool) -> tuple[SourceLine, ...]:
    """A frame as the real graphs show it: the function it is in, then the place in it. Where a call goes on into
    another frame the place is what is called, not the whole call (measured)."""
    line, line_end, column, column_end = frames.span_in(code, lasti)
    if line is None or line_end is None or column is None or column_end is None:
        return ()
    syntax = _syntax(filename)
    span = line, line_end, column, column_end
    if not innermost:
        span = syntax.calls.get(span, span)
    place = _source_line(filename, span)
    function = syntax.functions.get((code.co_firstlineno, code.co_name))
    return (place,) if function is None else (_source_line(filename, function), place)


_IN_SOURCE = Chosen(lambda code: is_shown(code.co_filename))


def stack(stop: Frame | None = None) -> tuple[SourceLine, ...]:
    """The call stack of the caller in source lines, outermost first.

    Args:
        stop: frame at which the walk ends (what called the compiled function is not part of the graph's source).
    """
    groups: list[tuple[SourceLine, ...]] = []
    inside: tuple[SourceLine, ...] = ()
    for frame in _IN_SOURCE.running(stop):
        code = frames.code_of(frame)
        # Equal code of two files is one key, so the file is another.
        lines = _lines(code, code.co_filename, frames.instruction_of(frame), not groups and not inside)
        if code.co_name in _COMPREHENSIONS:
            # Python 3.12 and newer run it in its function's own frame; so does this, whatever Python it runs on.
            inside = inside or lines
        elif lines:
            groups.append((*lines[:-1], *inside) if inside else lines)
            inside = ()
    return tuple(line for group in reversed(groups) for line in group)


_OF_USERS = Chosen(lambda code: code.co_name == "construct" or _may_be_function(code))


def _may_be_function(code: CodeType) -> bool:
    return not code.co_name.startswith("<") and is_users(code.co_filename)


def user_functions(stop: Frame | None) -> Iterator[Frame]:
    """The frames of the user's functions on the stack, innermost first, up to the ``construct`` that calls them."""
    for frame in _OF_USERS.running(stop):
        if frames.code_of(frame).co_name == "construct":
            return
        if is_function(frame):
            yield frame


def is_function(frame: Frame) -> bool:
    """Whether a frame is of a function of the user: not of a comprehension, nor of what wraps the call of a cell, which
    MindSpore never sees."""
    code = frames.code_of(frame)
    if not _may_be_function(code):
        return False
    owner = type(frames.owner_of(frame))
    return not (hasattr(owner, "construct") and getattr(owner.__call__, "__code__", None) is code)


def function_key(frame: Frame) -> tuple[CodeType, int]:
    """Identifies the function of a frame: its code and the object it is a method of (0 for none)."""
    code = frames.code_of(frame)
    owner = frames.owner_of(frame) if code.co_varnames[:1] == ("self",) else None
    return code, id(owner) if owner is not None else 0


def made_at(made: object) -> str:
    """``file.py:17``: the user's line that makes an object whose ``__init__`` runs; empty where there is none."""
    for frame in frames.stack():
        code = frames.code_of(frame)
        if is_users(code.co_filename):
            first = code.co_varnames[0] if code.co_name == "__init__" and code.co_argcount else None
            if first is None or frames.names_of(frame).get(first) is not made:
                return f"{code.co_filename}:{frames.line_of(frame)}"
    return ""


def users_frame() -> Frame | None:
    """The innermost frame of the user's source."""
    return next((frame for frame in frames.stack() if is_users(frames.file_of(frame))), None)


def calls(frame: Frame, name: str) -> bool:
    """Whether a frame is in the middle of a call of a builtin function, by its name in the source."""
    function = function_of(frames.code_of(frame))
    if function is None or name in frames.globals_of(frame):
        return False
    line, line_end, column, column_end = frames.span_of(frame)
    here = line, column, line_end, column_end
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
        and (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset) == here
        for node in ast.walk(function)
    )  # fmt: skip


def where() -> str:
    """``file.py:17`` of the innermost source line that is the user's, for error messages."""
    frame = users_frame()
    if frame is None:
        return "an unknown place"
    name, line = frames.file_of(frame), frames.line_of(frame)
    text = linecache.getline(name, line).strip()
    return f"{name}:{line}" + (f" ({text})" if text else "")
