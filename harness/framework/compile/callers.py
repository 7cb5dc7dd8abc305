"""Lists and dicts of the caller's in a traced function.

Some of what changes a list in a graph changes the caller's, some makes another list under the same name (measured on
MindSpore 2.10.0): ``insert``, ``extend``, ``pop`` and ``reverse`` change the caller's, and so does an item of a dict
that is set; ``append``, ``clear``, ``+=`` and an item of a list that is set do not. A list or dict that is given back
as it came is the caller's own.

A list that a graph makes has an object behind it, too: where it is a result, every name that held it shows what
``insert``, ``extend``, ``pop`` and ``reverse`` made of it; within the graph each name has its own (measured:
tests/data/programs/values_of_names.txt).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from types import FunctionType, MappingProxyType, MethodType
from typing import Any, NamedTuple

from harness.errors import DecidedLateError, TraceError
from harness.framework.compile.sides import is_under_condition
from harness.framework.compile.source import is_users, where
from harness.framework.frames import captured
from harness.framework.tensor import current, is_eager, is_tracing

#: how far functions, and what they take from around them, are followed
_DEPTH = 6


def _both(name: str) -> Any:
    """A method that changes the caller's object, too."""

    def method(self: Any, *args: Any) -> Any:
        if self.changes is None:
            self.callers = None
        elif self.callers is not None:
            getattr(self.callers, name)(*args)
            self.changes.append(name)
        return getattr(super(type(self), self), name)(*args)

    return method


def _apart(name: str) -> Any:
    """A method after which this is no longer the caller's object."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.callers = None
        return getattr(super(type(self), self), name)(*args, **kwargs)

    return method


def _refused(name: str) -> Any:
    def method(self: Any, *_args: Any, **_kwargs: Any) -> Any:
        raise TraceError(f"no graph changes an argument by {name}, at {where()}; make another list or dict")

    return method


class CallersList(list[Any]):
    """A list that is an argument; ``callers`` is the caller's as long as this is it, ``changes`` what changed it (None:
    nothing may)."""

    callers: list[Any] | None
    changes: list[str] | None

    insert, extend, pop, reverse = map(_both, ("insert", "extend", "pop", "reverse"))
    append, clear, __setitem__, __iadd__ = map(_apart, ("append", "clear", "__setitem__", "__iadd__"))
    sort, remove, __delitem__, __imul__ = map(_refused, ("sort()", "remove()", "del", "*="))


class CallersDict(dict[Any, Any]):
    """A dict that is an argument; attributes as of ``CallersList``."""

    callers: dict[Any, Any] | None
    changes: list[str] | None

    __setitem__ = _both("__setitem__")
    clear, update = map(_apart, ("clear", "update"))
    pop, popitem, setdefault, __delitem__ = map(_refused, ("pop()", "popitem()", "setdefault()", "del"))


def given(value: Any, changes: list[str]) -> Any:
    """An argument as the function gets it: the caller's lists and dicts, which others may hold, too, stand behind."""
    if type(value) not in (list, dict, tuple):
        return value
    if isinstance(value, tuple):
        members = tuple(given(member, changes) for member in value)
        return members if any(one is not other for one, other in zip(members, value, strict=True)) else value
    made: Any
    if isinstance(value, dict):
        made = CallersDict((key, given(member, changes)) for key, member in value.items())
    else:
        made = CallersList(given(member, changes) for member in value)
    made.callers, made.changes = value, changes
    return made


def standing_for(value: Any, members: Any) -> Any:
    """What stands for a list or dict whose ``members`` are inputs: no change of it is one of the caller's."""
    made: Any = CallersDict(members) if isinstance(value, dict) else CallersList(members)
    made.callers, made.changes = value, None
    return made


def own(value: Any) -> Any:
    """The caller's object, of a list or dict that is as it came; None for any other value."""
    if isinstance(value, (CallersList, CallersDict)):
        return value.callers if _is_whole(value) else None
    around = getattr(current(), "around", None)
    return value if around is not None and around.holds(value) else None


def _is_whole(value: Any) -> bool:
    if not isinstance(value, (CallersList, CallersDict)):
        return not isinstance(value, tuple) or all(map(_is_whole, value))
    if value.callers is None or len(value) != len(value.callers):
        return False
    return all(map(_is_whole, value.values() if isinstance(value, dict) else value))


#: what changes the object behind a list
_SHARED = frozenset({"insert", "extend", "pop", "reverse"})
#: what changes no list of a graph
_IDLE = frozenset({"sort", "remove"})


def another(target: Any) -> Any:
    """Another list or dict of a graph with the same members; anything else itself: other names keep theirs (measured:
    tests/data/programs/lists_in_graphs.txt)."""
    if not isinstance(target, (list, dict)) or not is_tracing() or is_eager():
        return target
    if not isinstance(target, (CallersList, CallersDict)):
        return copy(target)
    made: Any = type(target)(target)
    made.callers, made.changes = target.callers, target.changes
    return made


class Changed(NamedTuple):
    """What a name stands for after a method that changes a list or dict, and what that gave."""

    made: Any
    gave: Any


def changed(target: Any, method: str, args: Sequence[Any], named: Mapping[str, Any] = MappingProxyType({})) -> Changed:
    """What ``target.method(...)`` makes of a list or dict of a graph, ``target``, which stays as it is."""
    made = another(target)
    if method in _IDLE:
        return Changed(made, None)
    gave = getattr(made, method)(*args, **named)
    around = getattr(current(), "around", None)
    if around is not None and (behind := around.behind(target, method)) is not None:
        getattr(behind, method)(*args, **named)
        around.stand_for(behind, target, made)
    elif around is not None and isinstance(made, list):
        around.stand_for(None, made)  # what is appended or set makes a list that has none
    return Changed(made, gave)


class Around:
    """The lists and dicts that a function takes from around it, and what was in them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._found: dict[int, tuple[Any, Any]] = {}
        self._seen: set[int] = set()
        self._names: set[str] = set()
        #: lists and dicts (by id) -> each of them, and the object behind it
        self._behind: dict[int, tuple[Any, Any]] = {}
        #: objects that change under a condition on a tensor
        self._decided: list[Any] = []
        self._follow(function, _DEPTH)

    def behind(self, value: Any, method: str) -> Any:
        """The object behind a list or dict that ``method`` changes, too; None where there is none."""
        if isinstance(value, (CallersList, CallersDict)):
            return None  # they see to theirs
        kept, found = self._behind.get(id(value), (None, None))
        if isinstance(value, dict) and kept is None:
            return value if method == "__setitem__" and self.knows(value) else None
        if method not in (("__setitem__",) if isinstance(value, dict) else _SHARED):
            return None
        found = found if kept is not None else value if self.knows(value) else list(value)
        if found is None:
            return None
        if is_under_condition():
            self._decided.append(found)
        return found

    def stand_for(self, behind: Any, *values: Any) -> None:
        """Notes lists or dicts that ``behind`` is the object of."""
        for value in values:
            if value is not behind:
                self._behind[id(value)] = value, behind

    def settled(self, result: Any) -> Any:
        """A result with the objects behind its lists and dicts in their place.

        Raises:
            DecidedLateError: a condition on a tensor decides how such an object changed.
        """
        if not self._behind or not isinstance(result, (tuple, list, dict)):
            return result
        found = self._behind.get(id(result), (None, None))[1]
        found = result if found is None else found
        if any(found is each for each in self._decided):
            raise DecidedLateError("a list that several names hold changes under a condition on a tensor")
        if type(found) is dict:
            members: Any = {key: self.settled(each) for key, each in found.items()}
            same = all(members[key] is found[key] for key in found)
        elif type(found) in (tuple, list):
            members = type(found)(self.settled(each) for each in found)
            same = all(one is other for one, other in zip(members, found, strict=True))
        else:
            return found
        return found if same else members

    def put_back(self) -> None:
        """Gives all lists and dicts back what was in them: what was traced does not count."""
        for held, before in self._found.values():
            if not _same(held, before):
                held.clear()
                held.update(before) if isinstance(held, dict) else held.extend(before)

    def restore(self) -> bool:
        """Gives lists back what was in them, but for those that a graph changes; whether something was changed."""
        changed = [(held, before) for held, before in self._found.values() if not _same(held, before)]
        for held, before in changed:
            if self._is_named_anew(held, before):
                held[:] = before
        return bool(changed)

    def knows(self, value: Any) -> bool:
        """Whether a value is one of them."""
        return self._found.get(id(value), (None,))[0] is value

    def holds(self, value: Any) -> bool:
        """Whether a value is one of them, and no other list under the name of one."""
        held, before = self._found.get(id(value), (None, None))
        if held is None or held is not value:
            return False
        return _same(held, before) or not self._is_named_anew(held, before)

    def _is_named_anew(self, held: Any, before: Any) -> bool:
        stands_behind = any(held is each for _value, each in self._behind.values())
        return isinstance(held, list) and not stands_behind and _is_named_anew(held, before, self._names)

    def _follow(self, value: Any, depth: int) -> None:
        if id(value) in self._seen or depth == 0:
            return
        self._seen.add(id(value))
        if type(value) in (list, dict):
            self._found[id(value)] = value, value.copy()
        elif isinstance(value, MethodType):
            self._follow(value.__self__, depth)
            self._follow(value.__func__, depth)
        elif isinstance(value, FunctionType):
            for each in _held(value, self._names):
                self._follow(each, depth - 1)
        elif hasattr(type(value), "construct"):
            for each in (type(value).construct, *getattr(value, "__dict__", {}).values()):
                self._follow(each, depth - 1)
            # Other classes than cells may have a construct, too.
            for each in value._cells.values() if hasattr(value, "cells_and_names") else ():
                self._follow(each, depth)


@contextmanager
def whole(around: Around | None) -> Iterator[None]:
    """Gives lists and dicts back what was in them if the block does not come to its end because tracing begins again or
    is interrupted."""
    try:
        yield
    except BaseException as error:
        if around is not None and not isinstance(error, Exception):
            around.put_back()
        raise


def _held(function: FunctionType, names: set[str]) -> Iterator[Any]:
    """What a function takes from around it; of a user's, what its module has, too."""
    yield from captured(function).values()
    if is_users(function.__code__.co_filename):
        names.update(function.__code__.co_names)
        yield from (function.__globals__[name] for name in function.__code__.co_names if name in function.__globals__)


def _same(held: Any, before: Any) -> bool:
    if len(held) != len(before):
        return False
    if isinstance(held, dict):
        return all(key in before and before[key] is value for key, value in held.items())
    return all(one is other for one, other in zip(held, before, strict=True))


def _is_named_anew(held: list[Any], before: list[Any], names: set[str]) -> bool:
    """Whether a change of a list is one that a graph makes under its name alone: members at its end, or in place of
    others."""
    if len(held) < len(before) or "extend" in names:
        return False
    kept = sum(one is other for one, other in zip(held, before, strict=False))
    return kept == len(before) or (len(held) == len(before) and "reverse" not in names)
