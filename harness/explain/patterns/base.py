"""What a pattern is: one small function that looks at a tensor both ways and says what makes one of the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a pattern saw.

    Attributes:
        kind: name of the pattern.
        text: what holds of the values, in words.
        exact: the expected values changed in that way have the bits that were found.
    """

    kind: str
    text: str
    exact: bool


@dataclass(frozen=True, eq=False)
class Pair:
    """A tensor both ways, of one shape, and what is known beside it.

    Attributes:
        expected, found: the values; of one dtype and shape.
        inputs: expected inputs of its operator by name, where they agree with the found ones.
        op: the operator's type; empty of a tensor that no operator made.
    """

    expected: Array
    found: Array
    inputs: Mapping[str, Array] = field(default_factory=dict)
    op: str = ""

    @cached_property
    def e(self) -> Array:
        """Expected, as float64."""
        return np.asarray(self.expected.astype(np.float64))

    @cached_property
    def f(self) -> Array:
        """Found, as float64."""
        return np.asarray(self.found.astype(np.float64))

    @cached_property
    def finite(self) -> bool:
        """Whether all values of both are finite."""
        return bool(np.isfinite(self.e).all() and np.isfinite(self.f).all())

    @cached_property
    def changed(self) -> Array:
        """Where bits differ (NaN equals NaN)."""
        return np.asarray(~((self.e == self.f) | (np.isnan(self.e) & np.isnan(self.f))))

    @property
    def is_float(self) -> bool:
        """Whether the dtype is one of real floats (bfloat16 too)."""
        return self.found.dtype.kind in "fV"

    def gives(self, made: Array) -> bool:
        """Whether ``made``, rounded to the dtype, is what was found."""
        if made.shape != self.found.shape:
            return False
        with np.errstate(all="ignore"):
            rounded = made.astype(self.found.dtype)
        return bool(np.array_equal(rounded.astype(np.float64), self.f, equal_nan=True))

    def nearly(self, made: Array, ulps: int = 4) -> bool:
        """Whether ``made`` is what was found within ``ulps`` roundings of each element."""
        unit = {2: 2.0**-10, 4: 2.0**-23, 8: 2.0**-52}.get(self.found.dtype.itemsize, 0.0)
        if self.found.dtype.kind == "V":
            unit = 2.0**-7
        with np.errstate(all="ignore"):
            return bool((np.abs(made - self.f) <= ulps * unit * np.abs(made)).all())


Pattern = Callable[[Pair], Finding | None]

#: what a pattern may raise over values it was not made for: it says nothing then, and the next one is asked
_UNREADABLE = (ArithmeticError, LookupError, MemoryError, TypeError, ValueError)

#: patterns in the order they are asked: the more specific first
PATTERNS: dict[str, Pattern] = {}


def pattern(kind: str) -> Callable[[Callable[[Pair], str | tuple[str, bool] | None]], Pattern]:
    """Registers a function under ``kind``. It gives words, or words and whether they make the very bits."""

    def register(function: Callable[[Pair], str | tuple[str, bool] | None]) -> Pattern:
        def asked(pair: Pair) -> Finding | None:
            try:
                with np.errstate(all="ignore"):
                    seen = function(pair)
            except _UNREADABLE:
                return None
            if seen is None:
                return None
            text, exact = seen if isinstance(seen, tuple) else (seen, True)
            return Finding(kind, text, exact)

        PATTERNS[kind] = asked
        return asked

    return register


def find_pattern(pair: Pair) -> Finding | None:
    """The first pattern that fits; None where nothing does."""
    if pair.expected.shape != pair.found.shape or pair.found.size == 0:
        return None
    if pair.found.dtype.kind in "cOSU" or pair.expected.dtype != pair.found.dtype:
        return None
    if not pair.changed.any():
        return None
    for each in PATTERNS.values():
        found = each(pair)
        if found is not None:
            return found
    return None
