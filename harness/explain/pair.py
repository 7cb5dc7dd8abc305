"""Two versions of a tensor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, eq=False)
class Pair:
    """Both versions of a tensor, and what is known beside them.

    Attributes:
        expected, found: the values; of one dtype and shape.
        inputs: the operator's agreeing inputs, by name.
        op: the operator's type; empty for a tensor that no operator made.
        all_inputs: whether ``inputs`` are all tensors that the operator took.
    """

    expected: Array
    found: Array
    inputs: Mapping[str, Array] = field(default_factory=dict)
    op: str = ""
    all_inputs: bool = True

    @cached_property
    def e(self) -> Array:
        """Expected, as float64."""
        return np.asarray(self.expected.astype(np.float64))

    @cached_property
    def f(self) -> Array:
        """Found, as float64."""
        return np.asarray(self.found.astype(np.float64))

    @cached_property
    def both_finite(self) -> Array:
        """Where both are finite."""
        return np.asarray(np.isfinite(self.e) & np.isfinite(self.f))

    @cached_property
    def finite(self) -> bool:
        """Whether all values of both are finite."""
        return bool(self.both_finite.all())

    @cached_property
    def changed(self) -> Array:
        """Where values differ (NaN equals NaN, 0.0 equals -0.0)."""
        if self.expected.dtype.kind in "biu":
            return np.asarray(self.expected != self.found)
        return np.asarray(~((self.e == self.f) | (np.isnan(self.e) & np.isnan(self.f))))

    @property
    def is_float(self) -> bool:
        """Whether the dtype is one of real floats (bfloat16 too)."""
        return self.found.dtype.kind in "fV"

    @property
    def unit(self) -> float:
        """Distance from 1 to the next number of the dtype; 0 for whole numbers."""
        if self.found.dtype.kind == "V":
            return 2.0**-7
        return float(np.finfo(self.found.dtype).eps) if self.found.dtype.kind == "f" else 0.0


def is_bitwise(one: Array, other: Array) -> bool:
    """Whether two arrays have one dtype, one shape and the same bytes."""
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def bits(values: Array) -> Array:
    """The elements' bits as whole numbers, which can always be sorted and compared."""
    flat = np.ascontiguousarray(values)
    return flat.view(f"u{values.itemsize}") if values.itemsize in (1, 2, 4, 8) else flat
