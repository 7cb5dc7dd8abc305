"""Scans a block of float32 once: whether it can be measured in float32 (see ``near``), and its errors and sums."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from harness.compare.accumulator import Array
from harness.compare.floats import dot
from harness.compare.scratch import Scratch

#: If two numbers are further apart, float32 may not hold their difference exactly.
_FURTHEST = 1 << 23
#: Numbers that neither vanish nor overflow in the computations here.
SMALLEST, LARGEST = np.float32(2.0**-100), np.float32(2.0**100)
#: Between 0 and all other numbers: dividing by it never makes a value smaller.
_LEAST = np.float32(2.0**-149)
#: Size below which making an array is faster than looking it up.
_SHORT = 4096

scratch = Scratch(1 << 16)


class Seen(NamedTuple):
    """A block of finite numbers with equal signs, not very large, not far apart, and 0 on both sides or on neither.

    The largest error is 0 or at least ``SMALLEST``, and relative errors are below 1. The arrays are overwritten when
    the next block is looked at.

    Attributes:
        steps: distances in units in the last place, int32.
        few: the same as uint8, where none is above 255.
        size: ``|e|``, float32.
        error: ``|f - e|``, float32, exact.
        relative: ``error / size`` as float32 rounds it; 0 for 0/0.
        unequal: how many elements differ.
        nonzero: how many are not 0 (the same ones on both sides).
        scale: the largest of ``size``.
        furthest: the largest of ``steps``.
        top: where the largest of ``error`` is, the first.
        worst: the largest of ``relative``.
        sums: of ``e**2``, ``e * (f - e)``, ``(f - e)**2``, ``error`` and ``relative``.
    """

    steps: Array
    few: Array
    size: Array
    error: Array
    relative: Array
    unequal: int
    nonzero: int
    scale: float
    furthest: int
    top: int
    worst: float
    sums: tuple[float, float, float, float, float]


def new(name: str, like: Array, dtype: Any = None) -> Array:
    """Uninitialised memory as long as ``like``; of long ones the same for every array of that name."""
    kind = like.dtype if dtype is None else dtype
    return scratch.take(name, kind, like.size) if like.size > _SHORT else np.empty(like.size, kind)


def scan(expected: Array, found: Array) -> Seen | None:
    """A block (1-D, contiguous float32); None if it is not as ``Seen`` says."""
    size = np.abs(expected, out=new("size", expected))
    scale = float(size[size.argmax()])
    if not scale <= LARGEST:  # the first NaN, if there is one
        return None
    steps, furthest = _steps(expected, found)
    if furthest > _FURTHEST:
        return None
    difference = np.subtract(found, expected, out=new("relative", size))
    error = np.abs(difference, out=new("error", size))
    top = int(error.argmax())
    if not _ordinary(error[top]):
        return None
    few = _few(steps, furthest)
    unequal = int(np.count_nonzero(few))
    sums = _sums(expected, difference) if unequal else (_squares(expected), 0.0, 0.0, 0.0)
    relative, nonzero = _relative(error, size)
    worst = float(relative[relative.argmax()])
    if worst >= 1:
        return None
    ratios = _total(relative) if unequal else 0.0
    return Seen(steps, few, size, error, relative, unequal, nonzero, scale, furthest, top, worst, (*sums, ratios))


def _steps(expected: Array, found: Array) -> tuple[Array, int]:
    """Distances in units in the last place, int32, and the largest.

    That is above ``_FURTHEST`` where signs differ, if the expected side is at most ``LARGEST`` and the found one is
    not very large either: seen as integers, numbers of unequal signs are then far apart also modulo 2**32.
    """
    a, b = expected.view(np.int32), found.view(np.int32)
    steps = np.subtract(a, b, out=new("steps", a))
    np.abs(steps, out=steps)
    return steps, int(steps.view(np.uint32)[steps.view(np.uint32).argmax()])


def _ordinary(error: Any) -> bool:
    """Whether the largest error is 0 or one that ``Seen`` may have."""
    return bool(error == 0 or SMALLEST <= error <= LARGEST)


def _few(steps: Array, furthest: int) -> Array:
    if furthest > 255:
        return steps
    few = new("few", steps, np.uint8)
    np.copyto(few, steps, casting="unsafe")
    return few


def _squares(expected: Array) -> float:
    wide = new("wide", expected, np.float64)
    np.copyto(wide, expected)
    return dot(wide, wide)


def _sums(expected: Array, difference: Array) -> tuple[float, float, float, float]:
    """See ``Seen.sums``; all but the last."""
    long, wide = new("long", expected, np.float64), new("wide", expected, np.float64)
    np.copyto(long, expected)
    np.copyto(wide, difference)
    products = dot(long, long), dot(long, wide), dot(wide, wide)
    return *products, float(np.add.reduce(np.abs(wide, out=wide)))


def _relative(error: Array, size: Array) -> tuple[Array, int]:
    """``Seen.relative``, and how many elements of ``size`` are not 0; errors against 0 are at least 1."""
    relative = new("relative", size)
    if size[size.argmin()] > 0:
        return np.divide(error, size, out=relative), size.size
    # numpy is slow at a maximum with a scalar.
    np.maximum(size, _constant(_LEAST, size.size), out=relative)
    return np.divide(error, relative, out=relative), int(np.count_nonzero(size.view(np.int32)))


@cache
def _constant(value: np.float32, size: int) -> Array:
    return np.full(size, value)


def _total(numbers: Array) -> float:
    """The sum of float32 numbers of one sign: pairs of pairs of pairs of them in float32, then in float64."""
    odd = 0.0
    for name in ("half", "quarter", "eighth"):
        if numbers.size < _SHORT:
            break
        half = numbers.size // 2
        if numbers.size % 2:
            odd += float(numbers[-1])
        numbers = np.add(numbers[:half], numbers[half : 2 * half], out=scratch.take(name, np.float32, half))
    return odd + float(np.add.reduce(numbers, dtype=np.float64))
