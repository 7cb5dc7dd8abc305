"""Names MindSpore's methods of a tensor give their arguments, where they are others here. Source: 2.10.0, measured."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

#: for each method its argument there, and what it is here; empty for the only one, also given as several
_KEYWORDS = {
    **{method: {"other": "y"} for method in ("eq", "mul", "multiply", "true_divide")},
    "reshape": {"shape": ""},
    "matmul": {"tensor2": "other"},
    "permute": {"axis": "", "dims": ""},
    "repeat_interleave": {"dim": "axis"},
    "tile": {"dims": "", "reps": ""},
    "transpose": {"axes": ""},
    "view": {"shape": ""},
}


def with_their_keywords(method: str, function: F) -> F:
    """``function`` that takes MindSpore's keywords of ``method``, too."""
    known = _KEYWORDS.get(method)
    if known is None:
        return function

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        given = {known.get(name, name): value for name, value in kwargs.items()}
        only = (given.pop(""),) if "" in given else ()
        return function(*args, *only, **given)

    return called  # type: ignore[return-value]
