"""Callbacks by which upper packages connect to lower ones, which must not import them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: called with the session before its first graph is compiled; if it raises, the compile raises, and it is called again
#: at the next compile
first_compile: list[Callable[[Any], None]] = []

_given: dict[str, Callable[[], Any]] = {}


def provide(name: str, give: Callable[[], Any]) -> None:
    """Registers how a lower package gets something that an upper one has.

    Args:
        name: ``device``, ``operators``, ``transforms`` or ``dump``.
        give: called at each request.
    """
    _given[name] = give


def provided(name: str) -> Any:
    """Gets what was registered with ``provide``; ``KeyError`` if nothing was."""
    return _given[name]()
