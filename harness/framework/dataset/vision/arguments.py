"""Checks of arguments that image transforms share; every wrong kind is a ``SettingTypeError``, every wrong value a
``SettingError``, as in MindSpore."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.errors import SettingTypeError
from harness.framework.dataset.checks import mistyped, outside

#: MindSpore's bound of real arguments: float32 holds every whole number up to it
LARGEST_REAL = 16777216


def real(value: Any, name: str, owner: str, low: float = -LARGEST_REAL, high: float = LARGEST_REAL, *,
         flags: bool = False) -> float:  # fmt: skip
    """``value`` as a float if it is a number in [low, high]; True and False are numbers only with ``flags``."""
    if (isinstance(value, bool) and not flags) or not isinstance(value, (int, float)):
        raise mistyped(value, name, owner, (float, int) if not flags else (int, float, bool))
    if not low <= value <= high:
        raise outside(value, name, owner, low, high)
    return float(value)


def positive(value: Any, name: str, owner: str, high: float = LARGEST_REAL, *, flags: bool = False) -> float:
    """``value`` as a float if it is a number in (0, high]."""
    made = real(value, name, owner, high=high, flags=flags)
    if made <= 0:
        raise outside(value, name, owner, 0, high, "(]")
    return made


def integer(value: Any, name: str, owner: str, low: int, high: int) -> int:
    """``value`` if it is an int in [low, high]."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise mistyped(value, name, owner, (int,))
    if not low <= value <= high:
        raise outside(value, name, owner, low, high)
    return value


def sequence(value: Any, name: str, owner: str, lengths: Sequence[int]) -> Sequence[Any]:
    """``value`` if it is a list or a tuple of one of ``lengths``; any other length is a ``SettingTypeError``, too."""
    if not isinstance(value, (list, tuple)) or len(value) not in lengths:
        raise SettingTypeError(f"{owner}: {name} must be a list or tuple of {' or '.join(map(str, lengths))}, "
                               f"got {value!r}")  # fmt: skip
    return value


def ascending(value: Any, name: str, owner: str, low: float = 0, high: float = LARGEST_REAL) -> tuple[float, float]:
    """``value`` as floats if it is a list or a tuple of two numbers in [low, high], the smaller one first."""
    first, second = (real(each, name, owner) for each in sequence(value, name, owner, (2,)))
    if not low <= first <= second <= high:
        raise outside(value, name, owner, low, high)
    return first, second
