"""Checks of arguments that sources and operations share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeVar

from harness.errors import SettingError, SettingTypeError, StateError, UnsupportedError

#: arguments that change the speed of the real pipeline, not its results
SPEED = frozenset(("python_multiprocessing", "max_rowsize", "cache", "offload", "callbacks", "batch_format"))
LARGEST = 2**31 - 1
E = TypeVar("E", bound=Exception)


def noted(error: E, value: Any, name: str, owner: str) -> E:
    """The error, with a note that says whose argument it is: texts are those that scripts know from MindSpore
    (``tests/data/programs/dataset_refusals.txt``)."""
    error.add_note(f"{owner}: {name} is {value!r}")
    return error


def mistyped(value: Any, name: str, owner: str, kinds: Sequence[type], listed: str = "") -> SettingTypeError:
    """The error of an argument of another type than ``kinds``, which MindSpore lists as ``listed``."""
    listed = listed or str(list(kinds))
    if isinstance(value, bool) and int in kinds and bool not in kinds:
        listed = f"({listed[1:-1]}{'' if len(kinds) > 1 else ','})"
    shown = '""' if isinstance(value, str) and not value else value
    text = f"Argument {name} with value {shown} is not of type {listed}, but got {type(value)}."
    return noted(SettingTypeError(text), value, name, owner)


def outside(value: Any, name: str, owner: str, low: float, high: float, ends: str = "[]") -> SettingError:
    """The error of a number that is not in ``[low, high]`` (or what ``ends`` say)."""
    text = f"Input {name} is not within the required interval of {ends[0]}{low}, {high}{ends[1]}."
    return noted(SettingError(text), value, name, owner)


def whole(value: Any, name: str, owner: str, low: int, forbidden: int | None = None) -> int:
    """``value`` if it is an int of at least ``low`` that fits 32 bits.

    Raises:
        SettingTypeError: it is not an int.
        SettingError: it is out of bounds, or ``forbidden``.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise mistyped(value, name, owner, (int,))
    if not low <= value <= LARGEST:
        raise outside(value, name, owner, low, LARGEST)
    if value == forbidden:
        raise SettingError(f"{owner}: {name} must be in [{low}, {LARGEST}] but {forbidden}, got {value}")
    return value


def flag(value: Any, name: str, owner: str) -> bool:
    """``value`` if it is a bool; ``SettingTypeError`` otherwise."""
    if not isinstance(value, bool):
        raise mistyped(value, name, owner, (bool,))
    return value


def of_type(value: Any, kinds: type | tuple[type, ...], name: str, owner: str = "") -> Any:
    """``value``; ``SettingTypeError`` unless it is of one of ``kinds`` (True and False are no numbers)."""
    allowed = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        raise mistyped(value, name, owner, allowed)
    return value


def names_of(columns: str | Sequence[str], owner: str, argument: str = "column_names") -> list[str]:
    """Column names as a list; ``SettingTypeError`` unless a str or several, ``SettingError`` if one stands twice."""
    if not isinstance(columns, (str, list, tuple)):
        raise mistyped(columns, argument, owner, (list, str))
    given = [columns] if isinstance(columns, str) else list(columns)
    if not given or columns == "":
        text = f"{argument} should not be {'an empty str' if columns == '' else 'empty'}."
        raise noted(SettingError(text), columns, argument, owner)
    for at, name in enumerate(given):
        if not isinstance(name, str):
            raise mistyped(name, f"{argument}[{at}]", owner, (str,))
        if not name:
            raise noted(SettingError(f"{argument}[{at}] should not be empty."), columns, argument, owner)
    if len(set(given)) != len(given):
        text = "Every column name should not be same with others in column_names."
        raise noted(SettingError(text), columns, argument, owner)
    return given


def times(count: Any, owner: str) -> int:
    """How often (``repeat``) or how many (``take``): -1 or an int above 0."""
    if isinstance(count, bool) or not isinstance(count, int):
        if owner == "repeat":
            raise mistyped(count, "repeat", owner, (int, type(None)))
        raise mistyped(count, "count", owner, (int,))
    if count != -1 and not 0 < count <= LARGEST:
        text = {
            "repeat": "count should be either -1 or positive integer, range[1, INT32_MAX].",
            "take": f"count should be either -1 or within the required interval of (0, {LARGEST}], got {count}.",
        }[owner]
        raise noted(SettingError(text), count, "count", owner)
    return count


def samples(count: Any, owner: str) -> int | None:
    """``num_samples``: None, or an int of at least 0."""
    if count is None:
        return None
    if isinstance(count, bool) or not isinstance(count, int):
        raise mistyped(count, "num_samples", owner, (int,))
    if not 0 <= count < 2**63:
        text = f"num_samples exceeds the boundary between 0 and {2**63 - 1}(INT64_MAX)!"
        raise noted(SettingError(text), count, "num_samples", owner)
    return count


def directory(path: Any, owner: str) -> str:
    """``dataset_dir`` if it is one; ``SettingTypeError`` / ``SettingError`` otherwise."""
    if not isinstance(path, (str, os.PathLike)):
        raise mistyped(path, "dataset_dir", owner, (str,))
    if not os.path.isdir(path):
        text = f"The folder {os.fspath(path)} does not exist or is not a directory or permission denied!"
        raise noted(SettingError(text), path, "dataset_dir", owner)
    return os.fspath(path)


def one_of(value: Any, known: Sequence[str], name: str, owner: str) -> str:
    """``value`` if it is one of ``known`` texts."""
    if not isinstance(value, str):
        raise mistyped(value, name, owner, (str,))
    if value not in known:
        raise noted(SettingError(f"Input {name} is not within the valid set of {list(known)}."), value, name, owner)
    return value


def known(names: Sequence[str], columns: Sequence[str], owner: str) -> None:
    """``StateError`` for the first of ``names`` that is not a column."""
    missing = [name for name in names if name not in columns]
    if missing:
        raise StateError(f"{owner}: there is no column {missing[0]!r}; there are {list(columns)}")


def workers(count: Any, owner: str) -> int | None:
    """``num_parallel_workers``: None for the setting of ``dataset.config``."""
    if count is None:
        return None
    if isinstance(count, bool) or not isinstance(count, int):
        raise mistyped(count, "num_parallel_workers", owner, (int,))
    if not 1 <= count <= LARGEST:
        text = f"num_parallel_workers exceeds the boundary between 1 and {os.cpu_count()}!"
        raise noted(SettingError(text), count, "num_parallel_workers", owner)
    return count


def refuse_unknown(more: dict[str, Any], owner: str) -> None:
    """``UnsupportedError`` for arguments that are not only about speed and are not None."""
    other = sorted(name for name, value in more.items() if name not in SPEED and value is not None)
    if other:
        raise UnsupportedError(f"{owner}: {', '.join(other)} is not supported")
