"""How far two arrays are apart: absolutely, relatively, in units in the last place, and where most.

Blocked: memory use does not grow with the arrays. Exact: integers are subtracted as integers, 64-bit ones too;
floating-point numbers as float64, which holds all narrower ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness import dtypes
from harness.compare.tolerances import EXACT, Tolerance
from harness.compare.ulp import ulp_distance

Array = np.ndarray[Any, np.dtype[Any]]
Number = bool | int | float | complex

#: Elements looked at together: a dozen temporaries of 512 KiB.
_BLOCK = 65_536


@dataclass(frozen=True, slots=True)
class Element:
    """One element of both arrays.

    Attributes:
        index: where it is.
        expected, found: its values.
    """

    index: tuple[int, ...]
    expected: Number
    found: Number


@dataclass(frozen=True, slots=True)
class Measurement:
    """The distance of two arrays of one dtype and shape.

    Attributes:
        count: elements.
        unequal: elements whose bits differ.
        outside: elements the tolerance does not admit.
        nonfinite: elements among them where NaN or infinity stands against something else.
        max_abs, max_rel: largest error, and largest one relative to the expected value (infinite where that is 0),
            over elements finite on both sides. An integer error is an ``int``, exact.
        max_ulp: largest distance in units in the last place (of the parts, for complex numbers); for integers and
            bools None.
        worst: the element that is furthest outside; where none is outside, the one with the largest error; None if
            all bits are equal.
        at_abs, at_rel, at_ulp: where the largest errors are; None where there is none.
        expected_nan, found_nan, expected_inf, found_inf: how many elements are (or, complex, contain) such.
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

    @property
    def within(self) -> bool:
        """Whether the tolerance admits every element."""
        return self.outside == 0


def measure(expected: Array, found: Array, dtype_name: str, tolerance: Tolerance = EXACT) -> Measurement:
    """Measures ``found`` against ``expected``, both of the same shape and of the dtype ``dtype_name``.

    Args:
        expected, found: arrays of the numpy dtype that holds ``dtype_name``; any shape, also 0-d and empty.
        dtype_name: MindSpore dtype name.
        tolerance: see ``Tolerance``; for integers and bools anything unequal is outside.

    Raises:
        ValueError: shapes or dtypes are not as said (the caller judges those first).
    """
    dtype = dtypes.by_name(dtype_name)
    if expected.shape != found.shape or not expected.dtype == found.dtype == dtype.numpy:
        raise ValueError(f"cannot measure {found.dtype}{found.shape} against {expected.dtype}{expected.shape}")
    flat_expected, flat_found = expected.reshape(-1), found.reshape(-1)
    if dtype.kind in "fc":
        kind: _Running = _Floats(dtype, tolerance, _scale(flat_expected) if tolerance.scaled else 0.0)
    else:
        kind = _Integers(dtype, tolerance, 0.0)
    with np.errstate(all="ignore"):
        for start, e, f in _blocks(flat_expected, flat_found):
            kind.add(start, e, f)
    return kind.result(expected.shape, flat_expected, flat_found)


def _blocks(expected: Array, found: Array) -> Iterator[tuple[int, Array, Array]]:
    for start in range(0, expected.size, _BLOCK):
        yield start, expected[start : start + _BLOCK], found[start : start + _BLOCK]


def _scale(expected: Array) -> float:
    """The largest finite magnitude."""
    largest = 0.0
    with np.errstate(all="ignore"):
        for start in range(0, expected.size, _BLOCK):
            size = np.abs(_wide(expected[start : start + _BLOCK]))
            size = size[np.isfinite(size)]
            if size.size:
                largest = max(largest, float(size.max()))
    return largest


def _wide(block: Array) -> Array:
    """float64 or complex128 of a block of floating-point or complex numbers; exact."""
    return block.astype(np.complex128 if block.dtype.kind == "c" else np.float64)


class _Peak:
    """The largest of the numbers seen, and where it is (flat)."""

    def __init__(self) -> None:
        self.value: Any = 0
        self.at: int | None = None

    def add(self, start: int, numbers: Array) -> None:
        """Takes in a block of finite or infinite numbers that begins at ``start``."""
        if not numbers.size:
            return
        at = int(numbers.argmax())
        if numbers[at] > self.value:
            self.value, self.at = numbers[at].item(), start + at


class _Running:
    """What has been seen of a pair so far."""

    def __init__(self, dtype: dtypes.DType, tolerance: Tolerance, scale: float) -> None:
        self.dtype = dtype
        self.tolerance = tolerance
        self.floor = tolerance.atol + tolerance.scaled * scale
        self.unequal = self.outside = self.nonfinite = 0
        self.nan, self.inf = [0, 0], [0, 0]
        self.abs, self.rel, self.ulp, self.excess = _Peak(), _Peak(), _Peak(), _Peak()
        self.first: int | None = None
        self.first_nonfinite: int | None = None

    def add(self, start: int, expected: Array, found: Array) -> None:
        raise NotImplementedError

    def note_unequal(self, start: int, unequal: Array) -> bool:
        """Counts elements of other bits; False if there are none."""
        count = int(np.count_nonzero(unequal))
        if count and self.first is None:
            self.first = start + int(unequal.argmax())
        self.unequal += count
        return bool(count)

    def result(self, shape: tuple[int, ...], expected: Array, found: Array) -> Measurement:
        """The measurement of the whole."""

        def where(at: int | None) -> tuple[int, ...] | None:
            return None if at is None else tuple(int(i) for i in np.unravel_index(at, shape))

        candidates = (self.first_nonfinite, self.excess.at, self.abs.at, self.first)
        worst = next((at for at in candidates if at is not None), None)
        element = None
        if worst is not None:
            place = where(worst)
            assert place is not None
            element = Element(place, _item(expected, worst), _item(found, worst))
        floating = self.dtype.kind in "fc"
        return Measurement(
            expected.size, self.unequal, self.outside, self.nonfinite,
            float(self.abs.value) if floating else int(self.abs.value), float(self.rel.value),
            int(self.ulp.value) if floating else None, element, where(self.abs.at), where(self.rel.at),
            where(self.ulp.at), self.nan[0], self.nan[1], self.inf[0], self.inf[1],
        )  # fmt: skip


def _item(array: Array, at: int) -> Number:
    """An element as a Python number (bfloat16's is no subclass of one)."""
    value: Number = array[at].item() if array.dtype.kind != "V" else float(array[at])
    return value


class _Integers(_Running):
    """Integers and bools: anything unequal is outside."""

    def add(self, start: int, expected: Array, found: Array) -> None:
        unequal = expected != found
        if not self.note_unequal(start, unequal):
            return
        self.outside = self.unequal
        if expected.dtype == np.bool_:
            error = unequal.astype(np.uint64)
        else:
            # Modulo 2**64 the difference of the larger and the smaller is right for every integer type.
            high, low = np.maximum(expected, found), np.minimum(expected, found)
            error = high.astype(np.uint64) - low.astype(np.uint64)
        self.abs.add(start, error)
        size = np.abs(expected.astype(np.float64))
        self.rel.add(start, np.where(unequal, error.astype(np.float64) / size, 0.0))


class _Floats(_Running):
    """Floating-point and complex numbers."""

    def add(self, start: int, expected: Array, found: Array) -> None:
        self._count_specials(expected, 0)
        self._count_specials(found, 1)
        unequal = _words(expected) != _words(found)
        if unequal.ndim > 1:
            unequal = unequal.any(axis=1)
        if not self.note_unequal(start, unequal):
            return
        e, f = _wide(expected), _wide(found)
        finite = np.isfinite(e) & np.isfinite(f)
        bad = ~finite & ~_same_special(e, f)
        error = np.where(finite, np.abs(f - e), 0.0)
        size = np.where(finite, np.abs(e), 0.0)
        steps = np.where(finite, ulp_distance(expected, found, self.dtype), 0)
        self.abs.add(start, error)
        self.ulp.add(start, steps)
        self.rel.add(start, np.where(error > 0, error / size, 0.0))
        self._judge(start, unequal, error, size, steps, bad)

    def _judge(self, start: int, unequal: Array, error: Array, size: Array, steps: Array, bad: Array) -> None:
        if self.tolerance.exact:
            outside = unequal
        else:
            admitted = self.floor + self.tolerance.rtol * size
            outside = ((error > admitted) & (steps > self.tolerance.max_ulp)) | bad
            self.excess.add(start, np.where(outside, error / admitted, 0.0))
        self.outside += int(np.count_nonzero(outside))
        self.nonfinite += int(np.count_nonzero(bad))
        if self.first_nonfinite is None and bad.any():
            self.first_nonfinite = start + int(bad.argmax())

    def _count_specials(self, block: Array, side: int) -> None:
        self.nan[side] += int(np.count_nonzero(np.isnan(block)))
        self.inf[side] += int(np.count_nonzero(np.isinf(block)))


def _words(block: Array) -> Array:
    """The bits of a block as unsigned integers; of complex numbers shape (n, 2)."""
    if block.dtype.kind == "c":
        half = block.itemsize // 2
        return block.view(f"u{half}").reshape(-1, 2)
    return block.view(f"u{block.itemsize}")


def _same_special(expected: Array, found: Array) -> Array:
    """Where both are NaN (whatever its bits), or the same infinity; of complex numbers, in both parts."""
    if expected.dtype.kind == "c":
        a, b = expected.view(np.float64), found.view(np.float64)
        parts: Array = (_same_special(a, b) | (a == b)).reshape(-1, 2).all(axis=1)
        return parts
    same: Array = (np.isnan(expected) & np.isnan(found)) | (np.isinf(expected) & (expected == found))
    return same
