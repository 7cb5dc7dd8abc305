"""One generic registry for operators, formats, recorders, backends and measures."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from harness.errors import UnknownNameError

T = TypeVar("T")
# An error names them all if they are no more.
_NAMED = 12


class Registry(Generic[T]):
    """Maps names to things of one kind.

    Args:
        kind: name of such a thing for error messages (``"operator"``).
        entry_point_group: other packages may add to the registry through this group; it is read at the first miss,
            never at import.
        populate: imports the modules that register the built-in things; called once, at the first look-up.
    """

    def __init__(
        self, kind: str, entry_point_group: str | None = None, populate: Callable[[], None] | None = None
    ) -> None:
        self.kind = kind
        self._group = entry_point_group
        self._populate = populate
        self._things: dict[str, T] = {}

    def register(self, name: str, thing: T) -> T:
        """Adds ``thing`` under ``name``; each name only once (``ValueError`` otherwise)."""
        if name in self._things:
            raise ValueError(f"{self.kind} {name!r} is registered already, as {self._things[name]!r}")
        self._things[name] = thing
        return thing

    def _fill(self) -> None:
        if self._populate is not None:
            populate, self._populate = self._populate, None
            populate()

    def _load_entry_points(self) -> None:
        if self._group is None:
            return
        from importlib.metadata import entry_points  # it imports e-mail, sockets and more

        group, self._group = self._group, None
        for entry in entry_points(group=group):
            self._things.setdefault(entry.name, entry.load())

    def get(self, name: str) -> T:
        """The thing called ``name``; raises ``UnknownNameError`` with similar names, or with all if there are few."""
        self._fill()
        if name not in self._things:
            self._load_entry_points()
        try:
            return self._things[name]
        except KeyError:
            near = [each for each in self._things if each.lower() == name.lower()]
            near = near or difflib.get_close_matches(name, self._things, n=3, cutoff=0.6)
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            if not near and len(self._things) <= _NAMED:
                hint = f"; known are {', '.join(sorted(self._things))}"
            raise UnknownNameError(f"no {self.kind} is called {name!r}{hint}") from None

    def __contains__(self, name: object) -> bool:
        self._fill()
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        self._fill()
        self._load_entry_points()
        return iter(sorted(self._things))
