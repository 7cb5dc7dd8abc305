"""Calls that no graph can hold: MindSpore's compiler refuses them where the function it compiles makes them, whatever
their arguments.

Source: MindSpore 2.10.0, measured (``tests/data/misuse/graph_calls.json``). What is made inside a graph may still
use them: MindSpore makes objects in Python.
"""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from harness.errors import (
    CallError,
    ForeignNameError,
    HarnessError,
    OutsideAttributeError,
    OutsideError,
    OutsideValueError,
    SettingTypeError,
)
from harness.framework import frames
from harness.framework.frames import Frame

F = TypeVar("F", bound=Callable[..., Any])
#: by the class of Python's own
ERRORS: dict[type[Exception], type[HarnessError]] = {
    RuntimeError: OutsideError, ValueError: OutsideValueError, AttributeError: OutsideAttributeError
}  # fmt: skip
#: the module whose functions check arguments on the way from a caller
_CHECKS = f"{__package__}.kinds"
_within: list[Callable[[Frame], bool]] = []


def ask(within: Callable[[Frame], bool]) -> None:
    """Sets what says whether a frame is of a function that is being compiled."""
    _within[:] = [within]


def outside_graphs(
    function: F, kind: type[Exception] = RuntimeError, name: str = "", first: Callable[..., None] | None = None
) -> F:
    """``function``, which refuses to be called by a function that is being compiled.

    Args:
        function: any function or method.
        kind: Python's own class of the error.
        name: how the message names it.
        first: raises for arguments that MindSpore refuses before it comes to what no graph can hold; given by position.
    """
    owner = name or function.__qualname__

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        frame: Frame | None = frames.caller()
        while frame is not None and frames.module_of(frame) == _CHECKS:
            frame = frames.caller_of(frame)
        # What fails with an AttributeError does so further in: its arguments are bound first.
        if (
            _within
            and frame
            and _within[0](frame)
            and (kind is not AttributeError or _bound(function, args, kwargs) is not None)
        ):
            if first is not None and (given := _bound(function, args, kwargs)) is not None:
                first(*given)
            raise ERRORS[kind](f"{owner} cannot be called within a graph; call it outside of construct")
        return function(*args, **kwargs)

    return called  # type: ignore[return-value]


class Opaque:
    """What a call within a graph gives as an object of Python's: the graph hands it on, but cannot call it (measured).

    Attributes:
        value: the object; its attributes are this one's, too.
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def __getattr__(self, name: str) -> Any:
        return getattr(self.value, name)

    def __call__(self, *_args: Any, **_kwargs: Any) -> Any:
        raise CallError(f"a {type(self.value).__name__} that a call within a graph gives cannot be called there")


def give_objects(cls: type, names: Iterable[str]) -> None:
    """Lets methods of a class, of those that it defines itself, give what they give as an ``Opaque`` within a graph."""
    for name in names:
        if name in vars(cls):
            setattr(cls, name, _opaque(vars(cls)[name]))


def make_in_python(members: Iterable[Any]) -> None:
    """Lets classes whose objects MindSpore makes in Python refuse, within a graph, what it has no words for there (see
    ``check_words``)."""
    for cls in members:
        if isinstance(cls, type) and cls.__init__ is not object.__init__:  # type: ignore[misc]
            cls.__init__ = _worded(cls.__init__)  # type: ignore[misc]


def _worded(made: F) -> F:
    @functools.wraps(made)
    def called(self: Any, *args: Any, **kwargs: Any) -> None:
        if _within and _within[0](_caller()):
            check_words(*args, *kwargs.values())
        made(self, *args, **kwargs)

    return called  # type: ignore[return-value]


def _caller() -> Frame:
    """The frame that calls what calls this, whatever checks its arguments on the way."""
    frame = frames.caller(1)
    while frames.module_of(frame) in (_CHECKS, __name__) and (around := frames.caller_of(frame)) is not None:
        frame = around
    return frame


def check_words(*given: Any) -> None:
    """Raises for an argument that a call which Python makes within a graph has no words for (measured).

    Raises:
        ForeignNameError: a class that is neither Python's own nor numpy's.
        SettingTypeError: a member of an enumeration, of which its value is what is given.
    """
    for value in given:
        if isinstance(value, type) and value.__module__ not in ("builtins", "numpy"):
            raise ForeignNameError(f"a call within a graph cannot be given the class {value.__name__}")
    for value in given:
        if isinstance(value, enum.Enum):
            raise SettingTypeError(f"a call within a graph gives {value.value!r} in place of {value}")


def _opaque(method: F) -> F:
    @functools.wraps(method)
    def called(*args: Any, **kwargs: Any) -> Any:
        result = method(*args, **kwargs)
        return Opaque(result) if _within and _within[0](frames.caller()) else result

    return called  # type: ignore[return-value]


def _bound(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
    """The arguments of a call by position; None if the function does not take them."""
    try:
        return inspect.signature(function).bind(*args, **kwargs).args
    except TypeError:
        return None


def keep_outside(
    cls: type, names: Iterable[str], kind: type[Exception] = RuntimeError, first: Callable[..., None] | None = None
) -> None:
    """The same for methods of a class, of those that it defines itself."""
    for name in names:
        member = vars(cls).get(name)
        if inspect.isfunction(member):
            owner = cls.__name__ if name == "__init__" else f"{cls.__name__}.{name}"
            setattr(cls, name, outside_graphs(member, kind, owner, first))
