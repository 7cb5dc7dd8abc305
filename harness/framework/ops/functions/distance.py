"""Distances between rows."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError, SettingTypeError
from harness.framework.tensor import call

__all__ = ["cdist"]


def cdist(x1: Any, x2: Any, p: float = 2.0) -> Any:
    """The p-norms (..., P, R) of the differences of rows of ``x1`` (..., P, M) and ``x2`` (..., R, M).

    Raises:
        SettingError: ``p`` is negative or NaN.
    """
    if isinstance(p, bool) or not isinstance(p, (int, float)):
        raise SettingTypeError(f"cdist: p must be a float, got {p!r}")
    if not p >= 0:
        raise SettingError(f"cdist: p must be 0 or above, got {p}")
    return call("Cdist", x1, x2, float(p))
