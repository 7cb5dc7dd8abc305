"""Checks of arguments that sources and operations share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.errors import SettingError, SettingTypeError, StateError, UnsupportedError

#: arguments that change the speed of the real pipeline, not its results
SPEED = frozenset(("python_multiprocessing", "max_rowsize", "cache", "offload", "callbacks", "batch_format"))
LARGEST = 2**31 - 1


def whole(value: Any, name: str, owner: str, low: int, forbidden: int | None = None) -> int:
    """``value`` if it is an int of at least ``low`` that fits 32 bits.

    Raises:
        SettingTypeError: it is not an int.
        SettingError: it is out of bounds, or ``forbidden``.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise SettingTypeError(f"{owner}: {name} must be an int, got {type(value).__name__} {value!r}")
    if not low <= value <= LARGEST or value == forbidden:
        but = f" but {forbidden}" if forbidden is not None else ""
        raise SettingError(f"{owner}: {name} must be in [{low}, {LARGEST}]{but}, got {value}")
    return value


def flag(value: Any, name: str, owner: str) -> bool:
    """``value`` if it is a bool; ``SettingTypeError`` otherwise."""
    if not isinstance(value, bool):
        raise SettingTypeError(f"{owner}: {name} must be a bool, got {type(value).__name__} {value!r}")
    return value


def of_type(value: Any, kinds: type | tuple[type, ...], name: str) -> Any:
    """``value``; ``SettingTypeError`` unless it is of one of ``kinds`` (True and False are no numbers)."""
    allowed = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        raise SettingTypeError(f"{name} must be {' or '.join(k.__name__ for k in allowed)}, got {value!r}")
    return value


def names_of(columns: str | Sequence[str], owner: str) -> list[str]:
    """Column names as a list; ``SettingTypeError`` unless a str or several, ``SettingError`` if one stands twice."""
    if not isinstance(columns, (str, list, tuple)):
        raise SettingTypeError(f"{owner}: columns must be names, got {columns!r}")
    given = [columns] if isinstance(columns, str) else list(columns)
    if not given:
        raise SettingError(f"{owner}: at least one column is needed")
    if not all(isinstance(name, str) for name in given):
        raise SettingTypeError(f"{owner}: columns must be names, got {columns!r}")
    if len(set(given)) != len(given):
        raise SettingError(f"{owner}: a column is named twice in {given}")
    return given


def known(names: Sequence[str], columns: Sequence[str], owner: str) -> None:
    """``StateError`` for the first of ``names`` that is not a column."""
    missing = [name for name in names if name not in columns]
    if missing:
        raise StateError(f"{owner}: there is no column {missing[0]!r}; there are {list(columns)}")


def workers(count: Any, owner: str) -> int | None:
    """``num_parallel_workers``: None for the setting of ``dataset.config``."""
    return None if count is None else whole(count, "num_parallel_workers", owner, 1)


def refuse_unknown(more: dict[str, Any], owner: str) -> None:
    """``UnsupportedError`` for arguments that are not only about speed and are not None."""
    other = sorted(name for name, value in more.items() if name not in SPEED and value is not None)
    if other:
        raise UnsupportedError(f"{owner}: {', '.join(other)} is not supported")
