"""Callbacks by which upper rooms wire themselves to lower ones without being imported by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: called with the session before its first graph is compiled; what it raises is raised by the compile, and it is
#: called again at the next one
first_compile: list[Callable[[Any], None]] = []

_given: dict[str, Callable[[], Any]] = {}


def provide(name: str, give: Callable[[], Any]) -> None:
    """Says how a lower room gets something an upper one has.

    Args:
        name: ``operators``, ``transforms`` or ``dump``.
        give: called each time it is asked for.
    """
    _given[name] = give


def provided(name: str) -> Any:
    """What ``provide`` was told of; ``KeyError`` where nothing was."""
    return _given[name]()
