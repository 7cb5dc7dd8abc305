"""Running functions: the one module of the framework that reads frames.

A traced function is Python that runs. Which of the user's functions and layers are running, at which line, and what
their names hold, only Python's frames say; MindSpore's parser reads the same from the source. Other modules hand
frames around and ask here what they need. What the framework's own wrappers know is not read: they hand it over
(``harness.framework.tensor.calls``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from operator import attrgetter
from types import CodeType, FrameType, FunctionType, MethodType, TracebackType
from typing import Any, NamedTuple

Frame = FrameType
#: first and last line, first and last column; None where Python does not know it
Span = tuple[int | None, int | None, int | None, int | None]

#: how many codes a ``Chosen`` remembers: more than a process traces
_KEPT = 65536
#: how many callers are asked for a function
_NEAR = 4


def caller(further: int = 0) -> Frame:
    """The frame that called the function which asks, or one ``further`` out."""
    return sys._getframe(2 + further)


def stack(stop: Frame | None = None) -> Iterator[Frame]:
    """The running functions around the one that asks, innermost first, up to ``stop`` (which is left out)."""
    frame: Frame | None = sys._getframe(1)
    while frame is not None and frame is not stop:
        yield frame
        frame = frame.f_back


class Chosen:
    """Running functions whose code is of a certain kind; the answer is remembered by code, as each operator asks for
    all frames and most belong to the harness itself.

    Args:
        wanted: whether frames of a code are looked for.
    """

    def __init__(self, wanted: Callable[[CodeType], bool]) -> None:
        self._wanted = wanted
        #: Keyed by identity: equal code of two files would share a key, and hashing code walks through all of it.
        self._known: dict[int, tuple[CodeType, bool]] = {}
        #: Keys of what is not looked for: nearly all of a stack.
        self._passed: set[int] = set()

    def running(self, stop: Frame | None) -> list[Frame]:
        """Those that are running, innermost first, up to ``stop``."""
        found: list[Frame] = []
        frame = sys._getframe()
        passed = self._passed
        while (outer := frame.f_back) is not None and outer is not stop:
            frame = outer
            if id(frame.f_code) not in passed and self._is_wanted(frame.f_code):
                found.append(frame)
        return found

    def _is_wanted(self, code: CodeType) -> bool:
        kept = self._known.get(id(code))
        if kept is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
                self._passed.clear()
            kept = self._known[id(code)] = code, self._wanted(code)
            if not kept[1]:
                self._passed.add(id(code))
        return kept[1]


def caller_of(frame: Frame) -> Frame | None:
    """The frame that called ``frame``."""
    return frame.f_back


# Asked for each frame of each operator: no functions of Python's.
code_of: Callable[[Frame], CodeType] = attrgetter("f_code")
"""The code that runs."""
file_of: Callable[[Frame], str] = attrgetter("f_code.co_filename")
"""The file its source is in."""
line_of: Callable[[Frame], int] = attrgetter("f_lineno")
"""The line it is at."""
instruction_of: Callable[[Frame], int] = attrgetter("f_lasti")
"""The place in its code: equal places are of one expression."""


def span_of(frame: Frame) -> Span:
    """Where the expression it is in the middle of stands."""
    return span_in(frame.f_code, frame.f_lasti)


def span_in(code: CodeType, instruction: int) -> Span:
    """The same of a place in a code."""
    return next(islice(code.co_positions(), instruction // 2, None))


def names_of(frame: Frame) -> dict[str, Any]:
    """What the names of the function itself hold, and those that it takes from functions around it."""
    return frame.f_locals


def globals_of(frame: Frame) -> dict[str, Any]:
    """What the names of its module hold."""
    return frame.f_globals


def all_names_of(frame: Frame) -> dict[str, Any]:
    """What every name that the function sees holds, but for Python's own."""
    return {**frame.f_globals, **frame.f_locals}


def module_of(frame: Frame) -> Any:
    """The name of its module."""
    return frame.f_globals.get("__name__")


def owner_of(frame: Frame) -> Any:
    """The object whose method it is, by the name that Python's users give it; None for a function."""
    return frame.f_locals.get("self")


def function_in(frame: Frame) -> FunctionType | None:
    """The function that a frame runs, if it is a method of its first argument, a name of its module, or held by one of
    the functions that called it; else None. Others only the garbage collector knows, which looks through all memory."""
    code = frame.f_code
    if code.co_argcount and (first := frame.f_locals.get(code.co_varnames[0])) is not None:
        for each in type(first).__mro__:
            found = vars(each).get(code.co_name)
            if isinstance(found, FunctionType) and found.__code__ is code:
                return found
    around: Frame | None = frame
    for _ in range(_NEAR):
        around = around.f_back if around is not None else None
        for found in around.f_locals.values() if around is not None else ():
            found = found.__func__ if isinstance(found, MethodType) else found
            if isinstance(found, FunctionType) and found.__code__ is code:
                return found
    found = frame.f_globals.get(code.co_qualname)
    return found if isinstance(found, FunctionType) and found.__code__ is code else None


def captured(function: Any) -> dict[str, Any]:
    """What the names hold that a function takes from functions around it, but for those that nothing is bound to yet;
    empty for what is neither a function of Python's nor a method."""
    found: dict[str, Any] = {}
    function = function.__func__ if isinstance(function, MethodType) else function
    if isinstance(function, FunctionType):
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
            with suppress(ValueError):
                found[name] = cell.cell_contents
    return found


class Standing(NamedTuple):
    """A function, running or not, as far as its source can be followed.

    Attributes:
        code: what it runs.
        module: what the names of its module hold.
        names: what its own names hold.
    """

    code: CodeType
    module: dict[str, Any]
    names: dict[str, Any]


def standing(frame: Frame) -> Standing:
    """The function that a frame runs."""
    return Standing(frame.f_code, frame.f_globals, frame.f_locals)


def traced_back(trace: TracebackType | None) -> Iterator[tuple[Frame, int, int]]:
    """The frames an error passed, outermost first, each with the instruction and the line it was at."""
    while trace is not None:
        yield trace.tb_frame, trace.tb_lasti, trace.tb_lineno
        trace = trace.tb_next
