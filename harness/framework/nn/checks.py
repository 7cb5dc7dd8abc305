"""Checks of settings; each names the owner, the setting, what was given and what is accepted."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from harness.errors import DtypeError, SettingError, SettingTypeError


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _whole(value: Any, name: str, owner: str, bound: str) -> None:
    if not isinstance(value, int):
        raise SettingTypeError(f"{owner}: {name} must be an int {bound}, got {value!r}")


def positive_int(value: Any, name: str, owner: str) -> int:
    """``value`` if it is an int above 0."""
    _whole(value, name, owner, "above 0")
    if not _is_int(value) or value <= 0:
        raise SettingError(f"{owner}: {name} must be an int above 0, got {value!r}")
    return int(value)


def count(value: Any, name: str, owner: str) -> int:
    """``value`` if it is an int of at least 0."""
    _whole(value, name, owner, "of at least 0")
    if not _is_int(value) or value < 0:
        raise SettingError(f"{owner}: {name} must be an int of at least 0, got {value!r}")
    return int(value)


def boolean(value: Any, name: str, owner: str) -> bool:
    """``value`` if it is a bool."""
    if not isinstance(value, bool):
        raise SettingTypeError(f"{owner}: {name} must be a bool, got {type(value).__name__} {value!r}")
    return value


def among(value: Any, accepted: Collection[Any], name: str, owner: str) -> Any:
    """``value`` if it is one of ``accepted``."""
    if value not in accepted:
        raise SettingError(f"{owner}: {name} must be one of {list(accepted)}, got {value!r}")
    return value


def one_dtype(owner: str, *given: Any) -> None:
    """``DtypeError`` unless all tensors have one dtype."""
    if len({each.dtype for each in given}) > 1:
        raise DtypeError(f"{owner}: inputs must have one dtype, got {', '.join(each.dtype.name for each in given)}")


def number(value: Any, name: str, owner: str, low: float | None = None, high: float | None = None) -> Any:
    """``value`` if it is an int or float within [low, high]."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SettingTypeError(f"{owner}: {name} must be a number, got {type(value).__name__} {value!r}")
    if (low is not None and value < low) or (high is not None and value > high):
        bounds = " and ".join(
            text for text, bound in ((f"at least {low}", low), (f"at most {high}", high)) if bound is not None
        )
        raise SettingError(f"{owner}: {name} must be {bounds}, got {value!r}")
    return value


def open_share(value: Any, name: str, owner: str) -> float:
    """``value`` as a float if it lies in the open interval (0, 1)."""
    number(value, name, owner)
    if not 0 < value < 1:
        raise SettingError(f"{owner}: {name} must be greater than 0 and less than 1, got {value!r}")
    return float(value)


def pair(value: Any, name: str, owner: str) -> tuple[int, int]:
    """Two ints above 0: one given int counts for both."""
    given = (value, value) if _is_int(value) else value
    if not isinstance(given, tuple) or len(given) != 2:
        raise SettingError(f"{owner}: {name} must be an int above 0 or a tuple of two, got {value!r}")
    return positive_int(given[0], name, owner), positive_int(given[1], name, owner)
