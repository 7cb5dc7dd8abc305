"""The base of patterns: small functions that compare two versions of a tensor and say how one becomes the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a pattern.

    Attributes:
        kind: name of the pattern.
        text: what the values show, in words.
        exact: whether the expected values, changed in this way, have exactly the found bits.
    """

    kind: str
    text: str
    exact: bool


@dataclass(frozen=True, eq=False)
class Pair:
    """Both versions of a tensor, and what is known beside them.

    Attributes:
        expected, found: the values; of one dtype and shape.
        inputs: the operator's agreeing inputs, by name.
        op: the operator's type; empty for a tensor that no operator made.
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
        """Whether ``made``, rounded to the dtype, equals the found values."""
        if made.shape != self.found.shape:
            return False
        with np.errstate(all="ignore"):
            rounded = made.astype(self.found.dtype)
        return bool(np.array_equal(rounded.astype(np.float64), self.f, equal_nan=True))

    def nearly(self, made: Array, ulps: int = 4) -> bool:
        """Whether ``made`` equals the found values within ``ulps`` units per element."""
        unit = {2: 2.0**-10, 4: 2.0**-23, 8: 2.0**-52}.get(self.found.dtype.itemsize, 0.0)
        if self.found.dtype.kind == "V":
            unit = 2.0**-7
        with np.errstate(all="ignore"):
            return bool((np.abs(made - self.f) <= ulps * unit * np.abs(made)).all())


Pattern = Callable[[Pair], Finding | None]

#: exceptions of a pattern for values it was not made for: it gives no result then, and the next one is tried
_UNREADABLE = (ArithmeticError, LookupError, MemoryError, TypeError, ValueError)

#: patterns in the order they are tried, more specific ones first
PATTERNS: dict[str, Pattern] = {}


def pattern(kind: str) -> Callable[[Callable[[Pair], str | tuple[str, bool] | None]], Pattern]:
    """Registers a function under ``kind``. The function gives words, or words and whether they reproduce the exact
    bits."""

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
    """The first pattern that fits; None if none does."""
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
