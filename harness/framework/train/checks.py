"""Checks of arguments as ``mindspore.train`` makes them: a wrong type is a TypeError, a wrong value a ValueError."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError, SettingTypeError


def whole(value: Any, name: str, owner: str, low: int | None = None) -> int:
    """``value`` if it is an int (no bool) of at least ``low``."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise SettingTypeError(f"{owner}: {name} must be an int, got {type(value).__name__} {value!r}")
    if low is not None and value < low:
        raise SettingError(f"{owner}: {name} must be at least {low}, got {value}")
    return value
