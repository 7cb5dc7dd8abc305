"""Stand-ins for unsupported MindSpore names: they can be imported, and raise an error when used."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any, NoReturn

from harness.errors import UnsupportedNameError

#: gives the message of a refused use; called only then, because it searches for similar names
Why = Callable[[], str]


class Absent:
    """Marks stand-ins (objects, and the type of classes that stand in)."""


def _refusing(why: Why) -> Any:
    def refuse(*_args: Any, **_kwargs: Any) -> NoReturn:
        raise UnsupportedNameError(why())

    return refuse


def _decorating(why: Why) -> Any:
    """A call that refuses; of a decorator's, the decorated function or class refuses when it is used."""

    def call(_self: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], (FunctionType, type)):
            decorated = args[0]
            if isinstance(decorated, type):
                return type(decorated)(decorated.__name__, (decorated,), {"__new__": _refusing(why)})
            return functools.wraps(decorated)(_refusing(why))
        raise UnsupportedNameError(why())

    return call


class _AbsentType(Absent, type):
    """The type of a class that stands in: calls and attributes are refused, those of its subclasses, too;
    ``isinstance`` is False."""

    _why: Why

    def __call__(cls, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise UnsupportedNameError(cls._why())

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnsupportedNameError(cls._why())


def absent_class(name: str, why: Why) -> type:
    """A class that raises ``UnsupportedNameError(why())`` when it, or a subclass, is called or asked for an attribute
    that it has not."""
    return _AbsentType(name, (), {"__doc__": "Not supported here.", "_why": staticmethod(why)})


#: the methods that count as a use; without ``__eq__``, so that a stand-in can be searched for in a list
_USES = ("__call__", "__bool__", "__iter__", "__len__", "__getitem__", "__int__", "__index__", "__float__", "__add__",
         "__radd__", "__mul__", "__rmul__", "__sub__", "__rsub__", "__lt__", "__gt__", "__enter__")  # fmt: skip


def absent_value(name: str, kind: str, why: Why) -> Any:
    """A function (or another value) that raises ``UnsupportedNameError(why())`` when it is used."""

    def getattr_(self: object, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        raise UnsupportedNameError(why())

    uses = () if kind == "function" else _USES
    namespace: dict[str, Any] = {use: _refusing(why) for use in uses}
    namespace["__call__"] = _decorating(why)
    shown = f"<{kind} {name}, not supported>"
    namespace |= {
        "__doc__": "Not supported here.",
        "__getattr__": getattr_,
        "__repr__": lambda self: shown,
        "__name__": name,
    }
    return type(name, (Absent,), namespace)()


class _Member:
    """An attribute that refuses when it is read; it may be set on an instance."""

    def __init__(self, why: Why) -> None:
        self.why = why

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return self
        raise UnsupportedNameError(self.why())


def refuse_value(cls: type, name: str) -> None:
    """Raises the error of an attribute that ``refuse_member`` gave ``cls``, which a ``__getattr__`` would hide."""
    found = getattr(cls, name, None)
    if isinstance(found, _Member):
        raise UnsupportedNameError(found.why())


def refuse_member(cls: type, name: str, kind: str, why: Why) -> None:
    """Gives ``cls`` a method (or an attribute) that raises ``UnsupportedNameError`` when it is called (read)."""
    method = _refusing(why)
    method.__name__, method.__doc__ = name, "Not supported here."
    setattr(cls, name, method if kind == "function" else _Member(why))
