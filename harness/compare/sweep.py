"""One look at a block of float32: may it be measured in float32 (see ``near``), and if so, its errors and sums.

Twice: with numpy, and by numba (extra ``fast``), which takes a fraction of the time once compiled. Both give the
same arrays and counts, and sums that differ by the rounding of float64.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from harness.compare.floats import dot
from harness.compare.running import Array
from harness.compare.scratch import Scratch
from harness.stats.fast import pays

#: Further apart, the difference of two numbers need not be one of their type.
_FURTHEST = 1 << 23
#: Magnitudes (other than 0) whose differences and products with ``RUNGS`` are neither subnormal nor infinite.
SMALLEST, LARGEST = np.float32(2.0**-100), np.float32(2.0**100)
_SMALLEST_BITS = int(SMALLEST.view(np.uint32))
_LARGEST_BITS = int(LARGEST.view(np.uint32))
#: Bytes (of one side) a process measures with numpy before compiling pays.
WORTH_IT = 2**30
_TILE = 2048
#: Elements of arrays that are made faster than looked up.
_SHORT = 4096

scratch = Scratch(1 << 15)
_measured = 0


class Seen(NamedTuple):
    """A block whose elements are finite, not very small or large, of equal signs, and not far apart.

    The arrays are overwritten when the next block is looked at.

    Attributes:
        steps: distances in units in the last place, int32.
        size: ``|e|``, float32.
        error: ``|f - e|``, float32, exact.
        relative: ``error / size`` as float32 rounds it; 0 for 0/0.
        unequal: how many elements differ.
        nonzero: how many are not 0 (the same ones on both sides).
        scale: the largest of ``size``.
        furthest: the largest of ``steps``.
        sums: of ``e**2``, ``e * (f - e)``, ``(f - e)**2``, ``error`` and ``relative``.
    """

    steps: Array
    size: Array
    error: Array
    relative: Array
    unequal: int
    nonzero: int
    scale: float
    furthest: int
    sums: tuple[float, float, float, float, float]


Look = Callable[[Array, Array], Seen | None]


def look() -> Look:
    """How to look at the blocks of a pair of arrays: by numba where it is installed and pays by now."""
    return _with_numba if pays(_measured, WORTH_IT) and _compiled() is not None else with_numpy


def new(name: str, like: Array, dtype: Any = None) -> Array:
    """Uninitialised memory as long as ``like``; of long ones the same for every array of that name."""
    kind = like.dtype if dtype is None else dtype
    return scratch.take(name, kind, like.size) if like.size > _SHORT else np.empty(like.size, kind)


def with_numpy(expected: Array, found: Array) -> Seen | None:
    """A block (1-D, contiguous float32); None if it is not as ``Seen`` says."""
    global _measured
    _measured += expected.nbytes
    steps = _steps(expected, found)
    if steps is None:
        return None
    size = np.abs(expected, out=new("size", expected))
    scale, nonzero = float(size[size.argmax()]), _ordinary(size, found)
    if nonzero is None:
        return None
    unequal = int(np.count_nonzero(np.not_equal(steps, 0, out=new("mask", steps, np.bool_))))
    long, wide = new("long", size, np.float64), new("wide", size, np.float64)
    error = np.subtract(found, expected, out=new("error", size))
    np.copyto(long, expected)
    np.copyto(wide, error)
    products = dot(long, long), dot(long, wide), dot(wide, wide)
    np.abs(error, out=error)
    relative = np.maximum(size, SMALLEST, out=new("relative", size))
    np.divide(error, relative, out=relative)
    sums = (*products, float(np.abs(wide, out=wide).sum()), float(relative.sum(dtype=np.float64)))
    return Seen(steps, size, error, relative, unequal, nonzero, scale, int(steps[steps.argmax()]), sums)


def _steps(expected: Array, found: Array) -> Array | None:
    """Distances in units in the last place, int32; None if a sign differs, or some are above ``_FURTHEST``."""
    a, b = expected.view(np.int32), found.view(np.int32)
    steps = np.bitwise_xor(a, b, out=new("steps", a))
    if steps.min() < 0:
        return None
    np.abs(np.subtract(a, b, out=steps), out=steps)
    return steps if steps[steps.argmax()] <= _FURTHEST else None


def _ordinary(size: Array, found: Array) -> int | None:
    """How many elements are not 0; None if some are not finite, out of bounds, or 0 on one side only.

    Args:
        size: magnitudes of the expected side.
        found: of the same signs, at most ``_FURTHEST`` steps away.
    """
    if not size[size.argmax()] <= LARGEST:  # the first NaN, if there is one
        return None
    if size.min() >= SMALLEST:
        return size.size
    # Modulo 2**32, 0 becomes the largest of all.
    less = np.subtract(size.view(np.uint32), np.uint32(1), out=new("words", size, np.uint32))
    if less.min() < _SMALLEST_BITS - 1:
        return None
    nonzero = int(np.count_nonzero(np.not_equal(size, 0, out=new("mask", size, np.bool_))))
    # So few steps do not lead from an ordinary number to 0.
    others = np.count_nonzero(np.not_equal(found, 0, out=new("mask", found, np.bool_)))
    return nonzero if others == nonzero else None


def _with_numba(expected: Array, found: Array) -> Seen | None:
    """``with_numpy`` by numba."""
    kernel = _compiled()
    assert kernel is not None  # ``look`` asked
    arrays = (
        new("steps", expected, np.int32), new("size", expected), new("error", expected), new("relative", expected),
    )  # fmt: skip
    sums, whole = np.empty(5), np.empty(7, np.int64)
    kernel(expected.view(np.int32), found.view(np.int32), expected, found, *arrays, sums, whole)
    signs, furthest, top, low, unequal, nonzero, others = whole.tolist()
    if signs < 0 or furthest > _FURTHEST or top > _LARGEST_BITS or low < _SMALLEST_BITS - 1 or nonzero != others:
        return None
    scale = float(np.int32(top).view(np.float32))
    squares, shared, error_squares, error, relative = sums.tolist()
    return Seen(*arrays, unequal, nonzero, scale, furthest, (squares, shared, error_squares, error, relative))


@cache
def _compiled() -> Callable[..., None] | None:
    try:
        import numba
    except ImportError:
        return None
    # Sums may be taken in any order; NaN and infinities are found by their bits.
    compiled: Callable[..., None] = numba.njit(nogil=True, fastmath={"reassoc", "contract"})(kernel_loops)
    return compiled


def kernel_loops(
    a: Array, b: Array, e: Array, f: Array,
    steps: Array, size: Array, error: Array, relative: Array, sums: Array, whole: Array,
) -> None:  # fmt: skip
    """Plain loops over short stretches, each of which the compiler turns into vector instructions.

    Args:
        a, b: the bits of ``e`` and ``f``, int32.
        steps, size, error, relative: filled; see ``Seen``.
        sums: float64 [5], filled; see ``Seen``.
        whole: int64 [7], filled: below 0 if a sign differs; furthest; bits of the largest magnitude; those of the
            smallest one less 1, modulo 2**32; unequal; elements of ``e`` and of ``f`` that are not 0.
    """
    magnitude, one = np.int32(0x7FFFFFFF), np.uint32(1)
    signs, far, top, low = np.int32(0), np.int32(0), np.int32(0), np.uint32(0xFFFFFFFF)
    unequal, nonzero, others = np.int32(0), np.int32(0), np.int32(0)
    squares, shared, error_squares, total, ratio = 0.0, 0.0, 0.0, 0.0, 0.0
    for start in range(0, a.size, _TILE):
        part = slice(start, start + _TILE)
        x, y, p, q = a[part], b[part], e[part], f[part]
        step, sizes, errors, ratios = steps[part], size[part], error[part], relative[part]
        for i in range(x.size):
            signs |= x[i] ^ y[i]
            step[i] = np.int32(abs(np.int32(x[i] - y[i])))
            far = max(far, step[i])
            unequal += np.int32(x[i] != y[i])
        for i in range(x.size):
            bits = np.int32(x[i] & magnitude)
            top = max(top, bits)
            low = min(low, np.uint32(np.uint32(bits) - one))
            nonzero += np.int32(bits != 0)
            others += np.int32((y[i] & magnitude) != 0)
        for i in range(x.size):
            sizes[i] = abs(p[i])
            errors[i] = abs(np.float32(q[i] - p[i]))
            ratios[i] = errors[i] / max(sizes[i], SMALLEST)
        for i in range(x.size):
            wide = np.float64(p[i])
            difference = np.float64(q[i]) - wide
            squares += wide * wide
            shared += wide * difference
            error_squares += difference * difference
            total += abs(difference)
        for i in range(x.size):
            ratio += np.float64(ratios[i])
    sums[0], sums[1], sums[2], sums[3], sums[4] = squares, shared, error_squares, total, ratio
    whole[0], whole[1], whole[2], whole[3] = signs, far, top, low
    whole[4], whole[5], whole[6] = unequal, nonzero, others
