"""``Symbol``: what is known of a dimension that ``Tensor(shape=[Symbol(max=8), 3], dtype=...)`` leaves open.

Source: MindSpore 2.10.0, measured.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.errors import SettingError, SettingTypeError


class Symbol:
    """A dimension of at least ``min`` and, where it is above that, at most ``max``: a multiple of ``divisor`` plus
    ``remainder``; ``unique`` where it is one number, wherever the symbol stands.

    Raises:
        SettingTypeError: an argument is no int, or ``unique`` no bool.
        SettingError: ``min`` or ``divisor`` below 1, or a remainder that ``divisor`` cannot leave.
    """

    def __init__(
        self, max: int = 0, min: int = 1, divisor: int = 1, remainder: int = 0, unique: bool = False, **kwargs: Any
    ) -> None:
        for name, value in (("max", max), ("min", min), ("divisor", divisor), ("remainder", remainder)):
            if not isinstance(value, int):
                raise SettingTypeError(f"Symbol: {name} must be an int, got {value!r}")
        if not isinstance(unique, bool):
            raise SettingTypeError(f"Symbol: unique must be a bool, got {unique!r}")
        for name, value in (("min", min), ("divisor", divisor)):
            if value < 1:
                raise SettingError(f"Symbol: {name} must be above 0, got {value}")
        if not 0 <= remainder < divisor:
            raise SettingError(f"Symbol: remainder must be in [0, {divisor}), got {remainder}")
        self.max, self.min, self.divisor, self.remainder, self.unique = max, min, divisor, remainder, unique
        self.id = id(self)

    def to_dict(self) -> dict[str, int]:
        """What it says beyond its defaults."""
        said = {"max": self.max} if self.max > self.min else {}
        said |= {"min": self.min} if self.min > self.divisor else {}
        if self.divisor != 1:
            said["divisor"] = self.divisor
            said |= {"remainder": self.remainder} if self.remainder else {}
        return said | ({"id": self.id} if self.unique else {})

    def __str__(self) -> str:
        return str(self.to_dict())

    __repr__ = __str__

    def refusal(self, size: int, seen: dict[int, int]) -> str:
        """Why a dimension of ``size`` is not what this says; empty if it is. ``seen`` holds those of unique ones."""
        if self.max > self.min and size > self.max:
            return f"at most {self.max}"
        if size < self.min:
            return f"at least {self.min}"
        if size < self.divisor or size % self.divisor != self.remainder:
            return f"a multiple of {self.divisor} plus {self.remainder}"
        if self.unique and seen.setdefault(self.id, size) != size:
            return f"{seen[self.id]}, as where the symbol stood before"
        return ""


class OpenDims(tuple[int, ...]):
    """Declared dimensions, -1 where one is open.

    Attributes:
        given: the dimensions as they were given: ints, None, symbols.
    """

    given: tuple[Any, ...]

    def said(self) -> list[Any] | None:
        """The dimensions with what the symbols say; None if there are none."""
        if not any(isinstance(d, Symbol) for d in self.given):
            return None
        return [d.to_dict() if isinstance(d, Symbol) else d for d in self.given]


ANY_SHAPE = (-2,)
"""The shape of a declared argument whose number of axes is open."""


def open_dims(dims: Iterable[Any]) -> OpenDims | None:
    """Dimensions of which one at least is None, -1 or a ``Symbol``; None if all are known."""
    given = tuple(dims)
    if not any(d is None or isinstance(d, Symbol) or d == -1 for d in given):
        return None
    made = OpenDims(-1 if d is None or isinstance(d, Symbol) else int(d) for d in given)
    made.given = given
    return made
