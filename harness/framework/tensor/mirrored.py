"""Comparisons as they are written.

Python asks the right operand first where its class is derived from the left one's, as that of a traced tensor is from a
constant one's, and where the left one is a number: ``2 > x`` calls ``x < 2``. In a graph of MindSpore's the operator is
the one that is written, with the operands as they are written, but for a number that is less than a tensor, which is
``Greater`` (measured). Which it is, the caller's bytecode says.
"""

from __future__ import annotations

import dis
import functools
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import CodeType
from typing import Any

from harness.framework import frames
from harness.framework.frames import Frame
from harness.framework.tensor.dispatch import is_eager

#: a comparison's method -> what is written where it is called for the other operand, and the method of that
MIRRORED = {
    "__lt__": (">", "__gt__"), "__gt__": ("<", "__lt__"), "__le__": (">=", "__ge__"), "__ge__": ("<=", "__le__"),
}  # fmt: skip
#: how many frames of wrappers stand between a comparison and the one that makes it, at most
_WRAPPERS = 6


def as_written(name: str, method: Callable[..., Any], methods: Mapping[str, Callable[..., Any]]) -> Callable[..., Any]:
    """``method``, the comparison ``name``, that calls the one of ``methods`` which is written where a graph is
    traced."""
    sign, other_name = MIRRORED[name]

    @functools.wraps(method)
    def compare(x: Any, *others: Any) -> Any:
        if len(others) != 1:
            return method(x, *others)
        is_kept = name == "__gt__" and isinstance(others[0], (int, float))
        if not is_kept and not is_eager() and _written(frames.caller()) == sign:
            return methods[other_name](others[0], x)
        return method(x, *others)

    return compare


def _written(frame: Frame | None) -> str | None:
    """The comparison that the nearest of the frames around is in the middle of; None if none is."""
    for _ in range(_WRAPPERS):
        if frame is None:
            return None
        sign = _comparisons(frames.code_of(frame)).get(frames.instruction_of(frame))
        if sign is not None:
            return sign
        frame = frames.caller_of(frame)
    return None


@lru_cache(maxsize=4096)
def _comparisons(code: CodeType) -> dict[int, str]:
    """The comparisons of ``code``, by the place of their instruction."""
    return {each.offset: each.argval for each in dis.get_instructions(code) if each.opname == "COMPARE_OP"}
