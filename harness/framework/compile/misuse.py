"""Wrong calls that end the tracing of a function, as the errors that a graph has for them.

Source: MindSpore 2.10.0, measured (``misuse.json``, made by ``tests/interop/graph_misuse.py``). Its parser binds a
call's arguments itself: an unknown keyword is a ``RuntimeError``, and so is a wrong count, but for a function that has
nothing but parameters by position without defaults, called by position; two values for one parameter, and whatever
makes an object, are left to Python. Primitives, and most methods of a tensor, count their arguments in other ways.
"""

from __future__ import annotations

import ast
import functools
import inspect
import json
import linecache
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any, NamedTuple

from harness.errors import CallError, HarnessError, MissingArgumentError, SettingError, SettingTypeError, TraceError
from harness.framework import frames, outside
from harness.framework.compile.source import is_users, syntax_tree
from harness.framework.frames import Frame
from harness.framework.ops import Primitive
from harness.framework.tensor import Tensor, current, is_eager

_UNKNOWN = re.compile(r"got an unexpected keyword argument")
_TOO_FEW = re.compile(r"missing \d+ required")
_TOO_MANY = re.compile(r"takes .*\d+ .*but \d+ (?:was|were) given")
_TAKES_DEFAULTS = re.compile(r"takes from \d+")
_SETTINGS = re.compile(r"takes (?:at least )?(\d+).* with its settings, got (\d+)")
_KEYWORDS = re.compile(r"^Tensor\.\w+ takes the keywords .*, got ")
_OF_BUILTIN = re.compile(r"expected (?:at (?:least|most) )?\d+ argument|missing required argument")
_NOT_CALLABLE = re.compile(r"object is not callable$")
#: Python's own functions whose wrong count of arguments is not a ``TypeError`` in a graph
_COUNTED: tuple[Any, ...] = (range, isinstance, tuple, list, getattr, enumerate)
#: what the text of a callable may consist of, to be looked up again without an effect
_LOOKED_UP = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Load, ast.UnaryOp, ast.USub)
#: the letters of ``misuse.json``
_CLASSES: dict[str, type[HarnessError]] = {
    "T": SettingTypeError, "V": SettingError, "K": MissingArgumentError, "R": TraceError
}  # fmt: skip
_KINDS = ("keyword", "many", "none", "few")


@functools.cache
def _table() -> tuple[frozenset[str], dict[str, str]]:
    """The methods of a tensor that the parser binds, and by primitive the letters of its errors by kind."""
    table: dict[str, Any] = json.loads((Path(__file__).parent / "misuse.json").read_text(encoding="utf-8"))
    letters = {name: text for text, names in table["primitives"].items() for name in names.split()}
    return frozenset(table["methods"].split()), letters


class _Trace(NamedTuple):
    """A step of a traceback: a frame, the instruction and the line it was at."""

    frame: Frame
    instruction: int
    line: int


class _Place(NamedTuple):
    """A frame of a traceback: the call it is at, if its source can be read, and what was called, if that can be told
    without calling anything."""

    frame: Frame
    call: ast.Call | None
    callee: Any


@contextmanager
def told() -> Iterator[None]:
    """Raises, for a wrong call that ends the tracing of a graph in the block, the error that a graph has for it."""
    try:
        yield
    except (TypeError, ValueError, IndexError) as error:
        found = None if is_eager() else _in_graphs(error)
        if found is None:
            raise
        raise found.with_traceback(error.__traceback__) from None


def _in_graphs(error: Exception) -> HarnessError | None:
    traces = [_Trace(*each) for each in frames.traced_back(error.__traceback__)]
    users = [trace for trace in traces if is_users(frames.file_of(trace.frame))]
    if not users:
        return None
    text, users_call = str(error), _place(users[-1])
    if found := _of_primitive(text, users_call):
        return found(_with_line(text, users[-1]))
    call = users_call.call
    if _KEYWORDS.search(text) and call and isinstance(call.func, ast.Attribute) and call.func.attr in _table()[0]:
        return TraceError(_with_line(text, users[-1]))
    if not isinstance(error, TypeError) or isinstance(error, HarnessError):
        return None
    last = users_call if traces[-1] is users[-1] else _place(traces[-1])
    if last is not users_call and not (last.call and any(isinstance(each, ast.Starred) for each in last.call.args)):
        return None  # what failed is not a call that the user's is handed on to
    if _NOT_CALLABLE.search(text):
        return CallError(_with_line(text, users[-1]))
    if _is_counted_method(users_call, text) or not _refuses(text, last):
        return None
    return TraceError(_with_line(text, users[-1]))


def takes_positions_alone(signature: inspect.Signature) -> bool:
    """Whether a function has nothing but parameters by position without defaults."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return all(each.kind in kinds and each.default is each.empty for each in signature.parameters.values())


def _of_primitive(text: str, place: _Place) -> type[HarnessError] | None:
    """The class of the error of a primitive's wrong count of arguments; None if that is not what is wrong."""
    call, callee = place.call, place.callee
    if call is None:
        return None
    if isinstance(call.func, ast.Call):  # ops.ReLU()(x): the class says which one it was
        made = _looked_up(call.func.func, place.frame)
        name = made.__name__ if isinstance(made, type) and issubclass(made, Primitive) else ""
    else:
        name = type(callee).__name__ if isinstance(callee, Primitive) else ""
    if not name or name not in _table()[1]:
        return None
    kind = _miscounted(text, call)
    letter = _table()[1][name][_KINDS.index(kind)] if kind else "-"
    return _CLASSES.get(letter)


def _miscounted(text: str, call: ast.Call) -> str:
    settings = _SETTINGS.search(text)
    if not call.args and not call.keywords:
        return "none"
    if _UNKNOWN.search(text):
        return "keyword"
    if _TOO_MANY.search(text) or (settings and int(settings[2]) > int(settings[1])):
        return "many"
    return "few" if settings or _TOO_FEW.search(text) else ""


def _is_counted_method(place: _Place, text: str) -> bool:
    """Whether a call, which fails with ``text``, is one of a tensor's methods that count their arguments themselves."""
    call, callee = place.call, place.callee
    if call is None or not isinstance(call.func, ast.Attribute) or call.func.attr in _table()[0]:
        return False
    if callee is None:
        return hasattr(Tensor, call.func.attr) and not text.startswith("Dataset.")
    return isinstance(getattr(callee, "__self__", None), Tensor)


def _refuses(text: str, place: _Place) -> bool:
    callee = place.callee
    if any(callee is each for each in _COUNTED):
        return _OF_BUILTIN.search(text) is not None
    if isinstance(callee, (type, functools.partial)) or "__init__()" in text:
        return False
    if _UNKNOWN.search(text):
        return True
    if not (_TOO_FEW.search(text) or _TOO_MANY.search(text)):
        return False
    if _TAKES_DEFAULTS.search(text) or _has_keywords(place):
        return True
    function = _function(callee)
    return function is not None and not takes_positions_alone(inspect.signature(function))


def _has_keywords(place: _Place) -> bool:
    keywords = place.call.keywords if place.call is not None else ()
    known = frames.names_of(place.frame)
    return any(k.arg or (isinstance(k.value, ast.Name) and known.get(k.value.id)) for k in keywords)


def _function(callee: Any) -> FunctionType | MethodType | None:
    """The function that a call of ``callee`` binds its arguments to; None for one that is not Python's."""
    if hasattr(callee, "construct"):
        callee = callee.construct
    elif not isinstance(callee, (FunctionType, MethodType)):
        callee = getattr(callee, "__call__", None)  # noqa: B004
    return callee if isinstance(callee, (FunctionType, MethodType)) else None


def _place(trace: _Trace) -> _Place:
    call = _call(trace)
    return _Place(trace.frame, call, None if call is None else _looked_up(call.func, trace.frame))


def _call(trace: _Trace) -> ast.Call | None:
    code = frames.code_of(trace.frame)
    first, last, start, end = frames.span_in(code, trace.instruction)
    if first is None or last is None or start is None or end is None:
        return None
    lines = [linecache.getline(code.co_filename, at).encode() for at in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    try:
        found = syntax_tree(f"({b''.join(lines).decode()})").body[0]
    except (SyntaxError, ValueError):
        return None
    return found.value if isinstance(found, ast.Expr) and isinstance(found.value, ast.Call) else None


def _looked_up(text: ast.expr, frame: Frame) -> Any:
    if not all(isinstance(node, _LOOKED_UP) for node in ast.walk(text)):
        return None
    try:
        code = compile(ast.Expression(text), "<callee>", "eval")
        return eval(code, frames.globals_of(frame), dict(frames.names_of(frame)))
    except Exception:  # it was there once: whatever became of it, the error's own text has to do
        return None


def _with_line(text: str, trace: _Trace) -> str:
    name = frames.file_of(trace.frame)
    if f"{name}:" in text:
        return text
    line = linecache.getline(name, trace.line).strip()
    return f"{text}, at {name}:{trace.line}" + (f" ({line})" if line else "")


def _is_call_of_cell(frame: Frame) -> bool:
    """Whether a frame is what a user put in place of ``Cell.__call__``: no graph is made of that."""
    kind = type(frames.owner_of(frame))
    return hasattr(kind, "construct") and getattr(kind.__call__, "__code__", None) is frames.code_of(frame)


def _is_compiled(frame: Frame) -> bool:
    """Whether a frame is of a user's function that a graph is made of, and nothing makes an object there."""
    if is_eager() or not is_users(frames.file_of(frame)):
        return False
    at: Frame | None = frame
    stop = current().stop
    while at is not None and at is not stop:
        name = frames.code_of(at).co_name
        if name == "__init__" or _is_call_of_cell(at):
            return False
        if name == "construct":
            return True
        at = frames.caller_of(at)
    return True


outside.ask(_is_compiled)
