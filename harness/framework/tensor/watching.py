"""Who sees the calls of functions and cells in PyNative mode (``msprobe``'s levels L0, L1 and mix)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Watcher(Protocol):
    """Is called in place of what it watches, and calls that itself."""

    def watches(self, thing: Any) -> bool:
        """Whether a call of ``thing`` is to be seen: the key of a function, or a cell."""

    def function(self, key: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of ``function(*args, **kwargs)``; ``key`` is ``ops.softmax`` or ``Tensor.__add__``."""

    def cell(self, cell: Any, construct: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of ``construct(args, kwargs)``, the call of a cell."""

    def state(self) -> Any:
        """What was seen so far; tracing a function again starts from here."""

    def restore(self, state: Any) -> None:
        """Forgets what was seen after ``state``."""


#: at most one
WATCHERS: list[Watcher] = []


def watch(watcher: Watcher | None) -> None:
    """Makes ``watcher`` the only one; None ends it."""
    WATCHERS[:] = [] if watcher is None else [watcher]
