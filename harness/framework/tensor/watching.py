"""Who sees the calls of functions and cells in PyNative mode (``msprobe``'s levels L0, L1 and mix)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
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


class CallObserver(Protocol):
    """Is told of operators that run one by one (see ``runtime.called.Called``)."""

    @property
    def is_on(self) -> bool:
        """Whether they are of interest now."""

    def called(self, op: Any, call: Any, given: Sequence[Any], result: Any) -> None:
        """An operator ran."""

    def cell(self, cell: Any) -> AbstractContextManager[None]:
        """A block within which ``cell`` runs."""

    def scope_of(self, cell: Any) -> str | None:
        """The scope of a cell that runs one by one; None for none."""

    def recorded(self, program: Any, title: str, names: Sequence[str]) -> Any:
        """Declares the graphs of a gradient."""

    def next_graph(self) -> int:
        """The number of the next graph."""

    def run(self, executor: Any, arrays: Sequence[Any]) -> Any:
        """Runs a gradient's graph."""


told_of_calls: ContextVar[CallObserver | None] = ContextVar("who is told of operators called one by one", default=None)


def call_observer() -> CallObserver | None:
    """Who is told of operators that run now, one by one; None for nobody."""
    heard = told_of_calls.get()
    return heard if heard is not None and heard.is_on else None


@contextmanager
def untold() -> Iterator[None]:
    """A block of whose operators nobody is told."""
    token = told_of_calls.set(None)
    try:
        yield
    finally:
        told_of_calls.reset(token)
