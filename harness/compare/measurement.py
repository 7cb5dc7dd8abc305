"""The measured distance of two arrays: numbers and places, no arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from harness.compare.needed_tolerance import NeededTolerance

Number = bool | int | float | complex

#: The elements beyond these relative errors are counted, like the "thousandth" ratios of Ascend's tools.
THOUSANDTHS = (1e-3, 5e-3)


@dataclass(frozen=True, slots=True)
class Element:
    """An element of both arrays.

    Attributes:
        index: its index.
        expected: its value on the expected side.
        found: its value on the found side.
    """

    index: tuple[int, ...]
    expected: Number
    found: Number


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over the elements that are finite on both sides, in float64 (of complex numbers, of their magnitudes).

    Attributes:
        count: how many elements those are.
        error: of ``|f - e|``.
        error_squared: of ``|f - e|**2``.
        expected_squared, found_squared: of ``|e|**2``, ``|f|**2``.
        product: of ``e * f`` (of the real part of ``conj(e) * f``).
        relative: of ``|f - e| / |e|`` where ``e`` is not 0.
        nonzero: how many elements have an ``e`` that is not 0.
    """

    count: int = 0
    error: float = 0.0
    error_squared: float = 0.0
    expected_squared: float = 0.0
    found_squared: float = 0.0
    product: float = 0.0
    relative: float = 0.0
    nonzero: int = 0


@dataclass(frozen=True, slots=True)
class Measurement:
    """The distance of two arrays of one dtype and shape.

    Attributes:
        count: number of elements.
        unequal: number of elements whose bits differ.
        outside: number of elements that the tolerance does not admit.
        nonfinite: number of those elements that have NaN or infinity on one side only.
        max_abs: largest error over elements finite on both sides. Of integers it is an ``int``, exact.
        max_rel: largest error relative to the expected value; infinite if that is 0.
        max_ulp: largest distance in units in the last place (of the parts, for complex numbers); for integers and
            bools None.
        worst: the element furthest outside; if none is outside, the one with the largest error; None if all bits are
            equal.
        at_abs: index of the largest error; None if there is none.
        at_rel: index of the largest relative error.
        at_ulp: index of the largest distance in units in the last place.
        expected_nan: how many expected elements are NaN (or, complex, contain one).
        found_nan: how many found elements are.
        expected_inf: how many expected elements are infinite (or, complex, contain an infinity).
        found_inf: how many found elements are.
        nan_mismatch: number of elements that are NaN on one side only.
        inf_mismatch: number of elements that are an infinity of one sign on one side only.
        zero_mismatch: number of elements that are zero on one side only.
        scale: the largest finite magnitude of the expected side.
        bulk: the size of most of its elements, see ``bulk_of``.
        reach: how large an element may be to count for the others, see ``bulk_of``.
        beyond: elements whose relative error is beyond each of ``THOUSANDTHS``.
        ulp_counts: how many elements are more than 0, 1, 2, 4, 8, ... ULP apart, as far as there are any.
        sums: what means are made of.
        needed: which tolerances would admit all; None where none could (integers, bools, ``nonfinite``).

    Examples:
        >>> import numpy as np
        >>> from harness.compare import measure
        >>> measured = measure(np.float32([1, np.nan]), np.float32([1.0000001, 0]), "Float32")
        >>> measured.count, measured.outside, measured.max_ulp, measured.nan_mismatch
        (2, 2, 1, 1)
    """

    count: int
    unequal: int
    outside: int
    nonfinite: int
    max_abs: int | float
    max_rel: float
    max_ulp: int | None
    worst: Element | None
    at_abs: tuple[int, ...] | None
    at_rel: tuple[int, ...] | None
    at_ulp: tuple[int, ...] | None
    expected_nan: int
    found_nan: int
    expected_inf: int
    found_inf: int
    nan_mismatch: int = 0
    inf_mismatch: int = 0
    zero_mismatch: int = 0
    scale: float = 0.0
    bulk: float = 0.0
    reach: float = math.inf
    beyond: tuple[int, int] = (0, 0)
    ulp_counts: tuple[int, ...] = ()
    sums: Sums = field(default_factory=Sums)
    needed: NeededTolerance | None = None

    @property
    def is_within(self) -> bool:
        """Whether the tolerance admits every element."""
        return self.outside == 0

    @property
    def differing(self) -> int:
        """The number of elements to tell: those that the tolerance does not admit; where it admits all, those whose
        bits differ (zeros of other signs differ in bits alone)."""
        return self.outside or self.unequal

    @property
    def counted_scale(self) -> float:
        """``scale`` as far as it counts: what a tolerance relative to the tensor is measured by."""
        return min(self.scale, self.reach)

    @property
    def mean_abs(self) -> float:
        """Mean of ``|f - e|`` over elements finite on both sides; 0 if there are none."""
        return self.sums.error / self.sums.count if self.sums.count else 0.0

    @property
    def mean_rel(self) -> float:
        """Mean of ``|f - e| / |e|`` over such elements with ``e`` other than 0."""
        return self.sums.relative / self.sums.nonzero if self.sums.nonzero else 0.0

    @property
    def rmse(self) -> float:
        """Root of the mean squared error over elements finite on both sides."""
        return math.sqrt(self.sums.error_squared / self.sums.count) if self.sums.count else 0.0

    @property
    def cosine(self) -> float | None:
        """Cosine of the angle between the two as vectors; None if one of them is 0."""
        norms = math.sqrt(self.sums.expected_squared) * math.sqrt(self.sums.found_squared)
        if not 0 < norms < math.inf:
            return None
        return max(-1.0, min(1.0, self.sums.product / norms))

    @property
    def snr(self) -> float | None:
        """Signal to noise in dB: ``10 log10(sum e**2 / sum (f - e)**2)``; infinite without noise, None without e.

        Also None if NaN or infinity is on one side only (such noise has no size), and if both sums are too large for
        float64.
        """
        if self.nonfinite or not self.sums.expected_squared:
            return None
        if math.isinf(self.sums.expected_squared) and math.isinf(self.sums.error_squared):
            return None
        if not self.sums.error_squared:
            return math.inf
        return 10 * (math.log10(self.sums.expected_squared) - math.log10(self.sums.error_squared))

    def share_beyond(self, which: int) -> float:
        """The share of elements with a relative error beyond ``THOUSANDTHS[which]``."""
        return self.beyond[which] / self.count if self.count else 0.0

    def ulp_percentile(self, percent: float) -> int | None:
        """The distance in ULP that ``percent`` of the elements do not exceed; a power of two, 0, or the maximum.

        None for integers, bools, and arrays without elements.
        """
        if self.max_ulp is None or not self.count:
            return None
        admitted = self.count * (100 - percent) / 100
        for step, more in enumerate(self.ulp_counts):
            if more <= admitted:
                return min(self.max_ulp, ulp_bound(step))
        return self.max_ulp


def ulp_bound(step: int) -> int:
    """The distance beyond which ``Measurement.ulp_counts[step]`` counts elements: 0, 1, 2, 4, 8, ..."""
    return 1 << (step - 1) if step else 0
