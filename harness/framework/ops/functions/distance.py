"""Distances between rows."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError, SettingTypeError
from harness.framework.tensor import call

__all__ = ["cdist", "pdist"]


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


def pdist(input: Any, p: float = 2.0) -> Any:
    """The p-norms (n * (n - 1) / 2,) of the differences of each two rows of ``input`` (n, m)."""
    if isinstance(p, bool) or not isinstance(p, (int, float)):
        raise SettingTypeError(f"pdist: p must be a float, got {p!r}")
    if not p >= 0:
        raise SettingError(f"pdist: p must be 0 or above, got {p}")
    return call("Pdist", input, output_names=["y"], p=float(p), input_names=["x"])
