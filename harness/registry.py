"""One generic registry for everything that other packages may add: operators, formats, backends, commands and more.

One rule holds for all entry points (``docs/how-to/extend.md``): an entry point names a class or an instance; it is
checked when it is loaded; a broken one is left out, with one line that names its distribution; a taken name is an
error.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import PathFinder
from threading import RLock
from typing import Any, Generic, TypeVar

from harness.errors import HarnessError, RegistrationError, UnknownNameError

T = TypeVar("T")
# An error names them all if they are no more.
_NAMED = 12
#: Gives the thing for what an entry point names, a class or an instance; ``TypeError`` if it is neither.
Accept = Callable[[str, Any], T]


class Registry(Generic[T]):
    """Maps names to things of one kind.

    Whether a name is known never depends on what was asked before: entry points are read at the first name that is not
    built in, and whenever all names are listed.

    Args:
        kind: name of such a thing for messages (``"operator"``).
        entry_point_group: other packages may add to the registry through this group; it is never read at import.
        populate: imports the modules that register the built-in things; called once, at the first look-up.
        accept: checks what an entry point names and makes the thing of it; None takes anything.

    Attributes:
        kind: see above.
        group: see ``entry_point_group``; None if nobody can add.
    """

    def __init__(
        self,
        kind: str,
        entry_point_group: str | None = None,
        populate: Callable[[], None] | None = None,
        accept: Accept[T] | None = None,
    ) -> None:
        self.kind = kind
        self.group = entry_point_group
        self._populate = populate
        self._accept = accept
        self._things: dict[str, T] = {}
        self._from: dict[str, str] = {}
        self._left_out: dict[str, str] = {}
        self._taken: list[str] = []
        self._filling = self._read = False
        self._lock = RLock()

    def register(self, name: str, thing: T) -> T:
        """Adds ``thing`` under ``name``; each name only once (``RegistrationError`` otherwise)."""
        if name in self._things:
            raise RegistrationError(f"{self.kind} {name!r} is registered already, as {self._things[name]!r}")
        self._things[name] = thing
        return thing

    def get(self, name: str) -> T:
        """The thing called ``name``.

        Raises:
            UnknownNameError: nothing is; the message has similar names, or all if there are few.
            RegistrationError: an entry point has a name that is taken.
        """
        if self._populate is None and name in self._things and name not in self._from:
            return self._things[name]  # what a graph asks for at each of its operators
        if self._has(name):
            return self._things[name]
        import difflib

        near = [each for each in self._things if each.lower() == name.lower()]
        near = near or difflib.get_close_matches(name, self._things, n=3, cutoff=0.6)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        if not near and len(self._things) <= _NAMED:
            hint = f"; known are {', '.join(sorted(self._things))}" if self._things else ""
        if name in self._left_out:
            hint = f"; {self._left_out[name]}"
        raise UnknownNameError(f"no {self.kind} is called {name!r}{hint}")

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._has(name)

    def __iter__(self) -> Iterator[str]:
        self._fill()
        self._read_entry_points()
        return iter(sorted(self._things))

    def left_out(self) -> dict[str, str]:
        """The entry points that cannot be used: name -> one line that names the distribution and says why."""
        self._fill()
        self._read_entry_points()
        return dict(self._left_out)

    def distribution(self, name: str) -> str:
        """The distribution that added ``name`` by an entry point (``example 1.0``); empty if it is built in."""
        return self._from.get(name, "") if self._has(name) else ""

    def _has(self, name: str) -> bool:
        self._fill()
        if name in self._things and name not in self._from:
            return True
        self._read_entry_points()
        return name in self._things

    def _fill(self) -> None:
        if self._populate is None:
            return
        with self._lock:
            if self._populate is None or self._filling:  # the modules that register may look things up themselves
                return
            self._filling = True
            try:
                self._populate()
            finally:
                self._filling = False
            self._populate = None

    def _read_entry_points(self) -> None:
        if self.group is None:
            return
        if not self._read:
            with self._lock:
                if not self._read and not self._filling:
                    self._filling = True
                    try:
                        self._load_all(self.group)
                    finally:
                        self._filling = False
                    self._read = True
        if self._taken:
            raise RegistrationError("; ".join(self._taken))

    def _load_all(self, group: str) -> None:
        if "importlib.metadata" not in sys.modules and not named_somewhere(group):
            return
        from importlib.metadata import entry_points  # it imports e-mail, sockets and more

        built_in = dict(self._things)
        for entry in sorted(entry_points(group=group), key=lambda each: (each.name, _distribution(each))):
            self._load(entry, _distribution(entry), built_in)

    def _load(self, entry: Any, distribution: str, built_in: dict[str, T]) -> None:
        """Adds what an entry point names, unless it is broken or its name is taken."""
        name = entry.name
        try:
            found = entry.load()
            thing = found if self._accept is None else self._accept(name, found)
        except (Exception, SystemExit) as error:
            why = str(error).partition("\n")[0][:200]
            why = why if isinstance(error, HarnessError | ImportError | TypeError) else f"{type(error).__name__}: {why}"
            line = f"{self.kind} {name!r} of distribution {distribution} is left out: {why}"
            self._left_out[name] = line
            print(f"msdump: {line}", file=sys.stderr)
            return
        there = self._things.get(name)
        if there is not None and not _is_it(there, thing, found):
            by = self._from.get(name)
            owner = f"distribution {by}" if by else "this project" if name in built_in else "another module"
            self._taken.append(
                f"{self.kind} {name!r} of distribution {distribution} ({entry.value}) has the name of one of {owner}; "
                f"uninstall one of them, or give it another name"
            )
            return
        if there is None:
            self._things[name] = thing
        if name not in self._from:
            self._from[name] = distribution


def named_somewhere(group: str) -> bool:
    """Whether a distribution may add to a group of entry points: a look at the files that ``importlib.metadata`` would
    read, whose own import takes longer than many a command. True where anything else finds distributions."""
    if any(finder is not PathFinder and hasattr(finder, "find_distributions") for finder in sys.meta_path):
        return True
    for place in dict.fromkeys(sys.path):
        if os.path.isfile(place):  # an archive
            return True
        try:
            described = [name for name in os.listdir(place or ".") if name.lower().endswith("-info")]
        except OSError:
            continue
        if any(group.encode() in _bytes(os.path.join(place, name, "entry_points.txt")) for name in described):
            return True
    return False


def _bytes(path: str) -> bytes:
    """What a file holds; nothing where there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _is_it(there: Any, thing: Any, found: Any) -> bool:
    """Whether what is registered under a name is what an entry point names: a decorator registered it."""
    return there is thing or there is found or (inspect.isclass(found) and type(there) is found)


def _distribution(entry: Any) -> str:
    """The distribution of an entry point with its version, ``example 1.0``."""
    found = entry.dist
    return "(unknown)" if found is None else f"{found.name} {found.version}"


def instance_of(base: type[T]) -> Accept[T]:
    """The rule for kinds that are objects: an instance of ``base``, or a class whose instance is made without
    arguments."""

    def accept(name: str, found: Any) -> T:
        made = found() if inspect.isclass(found) else found
        if not isinstance(made, base):
            raise TypeError(f"it is {_told(found)}; a subclass of {_named(base)} is accepted, or an instance of one")
        _check(name, made, base)
        return made

    return accept


def class_of(base: type[T]) -> Accept[type[T]]:
    """The rule for kinds that are classes, of which each use makes an instance: a subclass of ``base``; of an instance
    its class counts."""

    def accept(name: str, found: Any) -> type[T]:
        cls = found if inspect.isclass(found) else type(found)
        if not issubclass(cls, base):
            raise TypeError(f"it is {_told(found)}; a subclass of {_named(base)} is accepted, or an instance of one")
        _check(name, cls, base)
        return cls

    return accept


def _check(name: str, made: Any, base: type) -> None:
    """``TypeError`` unless ``made`` has everything without which its base class cannot work, and no other name."""
    missing = [each for each in getattr(base, "required", ()) if not _overridden(made, base, each)]
    if missing:
        raise TypeError(f"{_told(made)} lacks {', '.join(missing)}, see {_named(base)}")
    own = getattr(made, "name", name)
    if isinstance(own, str) and own != name:
        raise TypeError(f"the entry point is called {name!r}, and the thing {own!r}: give both one name")


def _overridden(made: Any, base: type, name: str) -> bool:
    cls = made if inspect.isclass(made) else type(made)
    there = inspect.getattr_static(made, name, None)
    return there is not None and (cls is base or there is not inspect.getattr_static(base, name, None))


def _told(found: Any) -> str:
    if inspect.isclass(found):
        return f"the class {_named(found)}"
    return f"an object of {_named(type(found))}"


def _named(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}".removeprefix("builtins.")
