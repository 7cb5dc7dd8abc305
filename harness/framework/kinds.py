"""Kinds of arguments that MindSpore's functions, methods, operators, layers and classes refuse, checked before anything
else.

Source: ``kinds.json``, measured with MindSpore 2.10.0 CPU (``tests/interop/refused_kinds.py``): for each callable
(``ops.softmax``, ``Tensor.sum``, ``nn.Dense``; ``nn.Dense()`` is one that was made) and argument, by position or name,
the kinds of Python values for which every value that was tried is a ``TypeError``, or, with ``/A`` behind the kind, an
``AttributeError``: MindSpore asks the value for its shape or dtype, unlike what it checks. Callables that refuse the
same share a row.
"""

from __future__ import annotations

import functools
import inspect
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from harness.dtypes import DType
from harness.errors import HarnessError, SettingAttributeError, SettingError, SettingTypeError
from harness.lazy import lazy

F = TypeVar("F", bound=Callable[..., Any])
#: the words of ``kinds.json``, and the exact types they stand for; ``harness.framework.tensor`` adds its own
TYPES: dict[str, list[type]] = {
    "None": [type(None)], "bool": [bool], "int": [int], "float": [float], "str": [str], "tuple": [tuple],
    "list": [list], "dict": [dict], "Tensor": [], "ndarray": [np.ndarray], "dtype": [DType], "type": [type],
    "object": [object],
}  # fmt: skip
#: behind a kind: its values fail where they are asked for an attribute
_ASKED = "/A"
_SHOWN = ("Tensor", "bool", "int", "float", "str", "tuple", "list", "dict", "None")


@functools.cache
def refused_kinds() -> dict[str, dict[str, str]]:
    """For each callable its arguments, each with the kinds of values it does not take, separated by blanks."""
    text = (Path(__file__).parent / "kinds.json").read_text(encoding="utf-8")
    return {name: row for names, row in json.loads(text).items() for name in names.split()}


class Refused:
    """The row of one callable, worked out at its first call: there are hundreds.

    Args:
        name: of the row.
        owner: how messages name the callable.
        function: its code.
        skip: how many arguments no row counts (``self``).
    """

    def __init__(self, name: str, owner: str, function: Callable[..., Any], skip: int = 0) -> None:
        self._name, self._owner, self._function, self._skip = name, owner, function, skip

    @lazy
    def _parameters(self) -> list[inspect.Parameter]:
        return list(inspect.signature(self._function).parameters.values())[self._skip :]

    @lazy
    def _several(self) -> int | None:
        """The place from which on arguments have no name of their own."""
        kinds = [parameter.kind for parameter in self._parameters]
        return kinds.index(inspect.Parameter.VAR_POSITIONAL) if inspect.Parameter.VAR_POSITIONAL in kinds else None

    @lazy
    def _names(self) -> list[str]:
        return [parameter.name for parameter in self._parameters[: self._several]]

    @lazy
    def _by_position(self) -> int:
        """How many arguments can be given by position."""
        return sum(each.kind is not inspect.Parameter.KEYWORD_ONLY for each in self._parameters[: self._several])

    @lazy
    def _words(self) -> dict[int | str, list[str]]:
        """Kinds by argument, by position and by name."""
        names, found = self._names, dict[int | str, list[str]]()
        # What one of several may be hangs on the others.
        last = math.inf if self._several is None or self._name.endswith("()") else self._several
        for place, words in refused_kinds()[self._name].items():
            if not place.isdecimal():
                found[place] = words.split()
                if place in names[: self._by_position]:
                    found[names.index(place)] = words.split()
            elif int(place) < last:
                found[int(place)] = words.split()
                if int(place) < len(names):
                    found[names[int(place)]] = words.split()
        return found

    @lazy
    def _types(self) -> dict[int | str, frozenset[type]]:
        return {p: frozenset(t for word in words for t in _types_of(word)) for p, words in self._words.items()}

    @lazy
    def _ordered(self) -> tuple[frozenset[type], ...]:
        count = max((p + 1 for p in self._types if isinstance(p, int)), default=0)
        return tuple(self._types.get(p, frozenset()) for p in range(count))

    def argument(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> int | str | None:
        """The first argument of a kind that is refused, by position or name; None if there is none."""
        for position, (value, refused) in enumerate(zip(args, self._ordered, strict=False)):
            if type(value) in refused:
                return position
        for name, value in kwargs.items():
            if type(value) in self._types.get(name, ()):
                return name
        return None

    def name(self, place: int | str) -> str:
        """How messages name an argument."""
        known = isinstance(place, int) and place < len(self._names)
        return self._names[int(place)] if known else place if isinstance(place, str) else f"argument {place}"

    def lacks_attributes(self, place: int | str, value: Any) -> bool:
        """Whether such an argument fails where it is asked for an attribute."""
        return any(word.endswith(_ASKED) and type(value) in _types_of(word) for word in self._words[place])

    def error(self, place: int | str, value: Any, owner: str = "") -> SettingTypeError | SettingAttributeError:
        """The error for such an argument."""
        refused = {word.removesuffix(_ASKED) for word in self._words[place]}
        accepted = [kind for kind in _SHOWN if kind not in refused]
        return (SettingAttributeError if self.lacks_attributes(place, value) else SettingTypeError)(
            f"{owner or self._owner}: {self.name(place)} must be of another type "
            f"({' or '.join(accepted) or 'none of Python'}), got {type(value).__name__} {_short(value)}"
        )

    def check(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], act: Callable[[], Any], owner: str = "") -> None:
        """Raises if an argument is of a kind that is refused: what ``act``, the call itself, raises of the right type,
        else a ``SettingTypeError`` or ``SettingAttributeError``."""
        place = self.argument(args, kwargs)
        if place is not None:
            value = args[place] if isinstance(place, int) else kwargs[place]
            told = None if self.lacks_attributes(place, value) else _own_words(act)
            raise told or self.error(place, value, owner)


def _types_of(word: str) -> list[type]:
    return TYPES[word.removesuffix(_ASKED)]


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def refused(name: str, owner: str, function: Callable[..., Any], skip: int = 0) -> Refused | None:
    """The row of the table for ``name``, if it has one: of ``function``'s arguments, ``skip`` aside (``self``)."""
    return Refused(name, owner, function, skip) if name in refused_kinds() else None


def checked(name: str, function: F, skip: int = 0) -> F:
    """``function``, which checks its arguments (``skip`` aside, such as ``self``) first if ``name`` has a row."""
    row = refused(name, name.removesuffix("()"), function, skip)
    if row is None:
        return function

    @functools.wraps(function)
    def checking(*args: Any, **kwargs: Any) -> Any:
        row.check(args[skip:], kwargs, lambda: function(*args, **kwargs))
        return function(*args, **kwargs)

    return checking  # type: ignore[return-value]


def guard(cls: type, name: str) -> None:
    """Lets a class check its settings when one is made, in its own words where it has some."""
    made: Any = cls.__init__  # type: ignore[misc]
    if getattr(made, "checks", "") == name:
        return
    row = refused(name, cls.__name__, made, 1)
    if row is None:
        return

    @functools.wraps(made)
    def checking(self: Any, *args: Any, **kwargs: Any) -> None:
        row.check(args, kwargs, lambda: made(self, *args, **kwargs), type(self).__name__)
        made(self, *args, **kwargs)

    checking.checks = name  # type: ignore[attr-defined]
    cls.__init__ = checking  # type: ignore[misc]


def guard_methods(cls: type, owner: str) -> None:
    """Lets a class's own methods check their arguments, and calls of what it makes."""
    for name, member in list(vars(cls).items()):
        if inspect.isfunction(member) and (name == "__call__" or not name.startswith("_")):
            row = owner if name == "__call__" else f"{owner}.{name}"
            setattr(cls, name, checked(row, member, 1))


def guard_all(prefix: str, members: dict[str, Any]) -> None:
    """Lets the functions and classes of a namespace check their arguments."""
    for name, member in members.items():
        if inspect.isfunction(member):
            members[name] = checked(f"{prefix}.{name}", member)
        elif isinstance(member, type) and member.__module__.startswith(__name__.rpartition(".")[0]):
            guard(member, f"{prefix}.{name}")
            guard_methods(member, f"{prefix}.{name}()")
            if prefix != "nn" and "__call__" not in vars(member) and hasattr(member, "__call__"):  # noqa: B004
                member.__call__ = checked(  # type: ignore[method-assign]
                    f"{prefix}.{name}()", member.__call__, 1
                )


def _own_words(act: Callable[[], Any]) -> TypeError | None:
    """The error that a call ends in, as one of a type; None if it is not one raised on purpose, of one line."""
    try:
        act()
    except HarnessError as error:
        text = str(error)
        if isinstance(error, (TypeError, SettingError)) and "\n" not in text and not isinstance(error, AttributeError):
            return error if isinstance(error, TypeError) else SettingTypeError(text)
    except Exception:  # a value of this kind was not foreseen: whatever it led to is not the cause
        pass
    return None
