"""Calls of graph functions that are running, as the functions' wrappers hand them over to the compiler."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any


class FunctionCall:
    """One call of a graph function (``dispatch.graph_function``) while a graph is traced. (No dataclass: to make one
    takes longer than the rest of this module.)

    Attributes:
        key: what identifies the function; None for one that is not a graph function after all.
        shared: whether its calls stand in the scope of the first one.
        named: whether it is called with a keyword of its older form, which is another function.
        args: arguments by position.
        kwargs: arguments by keyword.
        around: the call that is running around it; None for the outermost.
    """

    __slots__ = ("args", "around", "key", "kwargs", "named", "shared")

    def __init__(
        self,
        key: Any,
        shared: bool,
        named: bool,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        around: FunctionCall | None,
    ) -> None:
        self.key, self.shared, self.named = key, shared, named
        self.args, self.kwargs, self.around = args, kwargs, around


RUNNING: ContextVar[FunctionCall | None] = ContextVar("the graph function that is called", default=None)


def innermost() -> FunctionCall | None:
    """The innermost call that is running in this context; None where no graph function runs while a graph is traced."""
    return RUNNING.get()
