"""How deep the operators of a library's function stand, as recorded.

A function of MindSpore's library is several function graphs, one inside the other, which MindSpore does not document.
``nestings.json`` has, for a call of a function or a layer with arguments of certain kinds, the steps of the pass that
puts function graphs into each other (``inline``), counted from the call.

Source: the graphs of MindSpore 2.10.0 before that pass, followed by ``tests/data/nestings/make.py``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from harness.framework import frames
from harness.framework.compile.source import is_users
from harness.framework.frames import Frame
from harness.framework.tensor import Parameter, Tensor
from harness.framework.tensor.calls import FunctionCall

#: what tells the forms of a layer apart
_SETTING = "reduction"


class Recorded(NamedTuple):
    """The function graphs of one call.

    Attributes:
        levels: of each graph that holds operators, the step at which it becomes part of the caller.
        operators: in the order they run: its name, its graph, the step it is looked at (``seen``), and the step its
            inputs from outside are (``left``).
        early: graphs that are part of the caller earlier if the first argument is replaced: the graph, how many steps
            after that, and from which step after the call on.
    """

    levels: tuple[int, ...]
    operators: tuple[tuple[str, int, int, int], ...]
    early: tuple[tuple[int, int, int], ...] = ()


@lru_cache(maxsize=1)
def table() -> dict[str, Recorded]:
    """What is recorded, by the text of a call (``call_of``)."""
    text = (Path(__file__).parent / "nestings.json").read_text(encoding="utf-8")
    return {
        call: Recorded(tuple(levels), tuple(map(tuple, operators)), tuple(map(tuple, early)))
        for call, (levels, operators, early) in json.loads(text).items()
    }


def recorded(frame: Frame, made: FunctionCall | None) -> Recorded | None:
    """What is recorded of the call ``frame`` is: ``made`` of a graph function, or None of a layer. None for nothing."""
    call = call_of(frame, made)
    if call is None or "parameter" in call:  # a read of a parameter is an effect of its own
        return None
    return table().get(call)


def depth_of(frame: Frame, made: FunctionCall) -> tuple[int, int] | None:
    """How deep the operator of a call with a parameter stands, and how many more graphs its result passes; None where
    nothing is recorded of a call with a tensor in the parameter's place."""
    call = call_of(frame, made)
    found = table().get(call.replace("parameter", "tensor")) if call is not None else None
    if found is None or len(found.levels) != 1:
        return None
    (_op, _graph, _seen, left), (level,) = found.operators[-1], found.levels
    return level + 1, left - level - 2


def call_of(frame: Frame, made: FunctionCall | None) -> str | None:
    """The text a call is recorded by: what is called, and the kinds of its arguments; None for the user's own."""
    if made is None:
        layer = frames.owner_of(frame)
        if is_users(frames.file_of(frame)) or not hasattr(layer, _SETTING):
            return None
        return f"{type(layer).__name__}({getattr(layer, _SETTING)})"
    if made.kwargs and not is_called_by_users(frame):
        return None  # a layer of MindSpore's gives them by position
    name = made.key[0] if isinstance(made.key, tuple) else made.key
    words = [_kind(value) for value in made.args]
    words += [f"{word}={_kind(value)}" for word, value in made.kwargs.items()]
    return f"{name}({', '.join(words)})"


def is_called_by_users(frame: Frame) -> bool:
    """Whether a function of the user's makes the call that ``frame`` is."""
    caller = frames.caller_of(frame)
    return caller is not None and is_users(frames.file_of(caller))


def _kind(value: Any) -> str:
    if isinstance(value, Tensor):
        return "parameter" if isinstance(value, Parameter) else "tensor"
    if value is None or isinstance(value, (bool, str)):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(sorted({_kind(each) for each in value}))}]"
    if isinstance(value, Sequence):
        return f"({', '.join(sorted({_kind(each) for each in value}))})"
    return type(value).__name__
