"""Functions that MindSpore holds as a cell, made at each call: in graph mode each call is a graph of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from harness import hooks
from harness.framework.context import GRAPH_MODE, get_context
from harness.framework.tensor import is_tracing

__all__: list[str] = []


def made_at_each_call(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` as a cell of one input, ``x``; its other arguments are settings of the cell.

    Source: MindSpore 2.10.0, measured (``tests/data/graphs``).
    """

    @functools.wraps(function)
    def called(x: Any, *args: Any, **kwargs: Any) -> Any:
        if is_tracing() or get_context("mode") != GRAPH_MODE:
            return function(x, *args, **kwargs)
        return hooks.provided("transforms").run_as_cell(functools.partial(_first, function, args, kwargs), x)

    return called


def _first(function: Callable[..., Any], args: Any, kwargs: Any, x: Any) -> Any:
    return function(x, *args, **kwargs)
