"""Checks cheaply whether a tolerance surely admits every element; ``measure`` finds how far they are apart.

float32 is judged in float32; a slightly tighter tolerance accounts for the rounding. A pair that passes the tighter
tolerance passes the stated one; any other pair is in doubt, and the caller has to measure it.
"""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import numpy as np

from harness.compare.bulk import BLOCK, MASK, bulk_of, examined, largest, magnitudes, peak, stride
from harness.compare.scratch import Scratch
from harness.compare.source import Source, source
from harness.compare.tolerances import Tolerance

Array = np.ndarray[Any, np.dtype[Any]]

_scratch = Scratch(BLOCK)
#: Part of a tolerance reserved for the rounding of three float32 operations (each at most 2**-24).
_SLACK = 2.0**-20
#: Elements of a block that give a first guess.
_SOME = 4096
#: Products below the smallest normal number are not rounded relatively.
_TINY = float(np.finfo(np.float32).tiny)


def surely_within(expected: Array | Source, found: Array | Source, tolerance: Tolerance) -> bool:
    """True only if ``measure`` would find no element outside; False if that is unknown.

    Args:
        expected, found: arrays of equal shape; anything but float32 is in doubt.
        tolerance: the tolerance to apply; ``EXACT`` is in doubt.
    """
    if tolerance.exact or expected.dtype != np.float32 or found.dtype != np.float32 or expected.shape != found.shape:
        return False
    e, f = source(expected), source(found)
    with np.errstate(all="ignore"):
        if not tolerance.scaled:
            return _whole(e, f, tolerance, 0.0, 0.0)
        if _assumed(e, f, tolerance):
            return True
        bulk = bulk_of(e, f)
        # The largest of the first block is not above the largest of all: what passes with it passes.
        first = max(map(peak, islice(e.blocks(BLOCK), 1)), default=0.0)
        if _whole(e, f, tolerance, min(first, bulk.reach), bulk.size):
            return True
        if e.size <= BLOCK:
            return False
        return _whole(e, f, tolerance, min(largest(e), bulk.reach), bulk.size)


def _assumed(e: Source, f: Source, tolerance: Tolerance) -> bool:
    """Whether all pass a tolerance that is not above the stated one; one pass shows both.

    The first block says how large most elements are, at least. Whether they are is counted until no block to come can
    change it. Then the part of the largest that counts (``Bulk.reach``) is at least 32 times that.
    """
    step, coming = stride(e.size), examined(e.size)
    least, large, small, limits = 0.0, 0, 0, None
    for at, (one, other) in enumerate(zip(e.blocks(BLOCK), f.blocks(BLOCK), strict=True)):
        if not at or (least and at % step == 0 and large <= small + coming * BLOCK):
            size = magnitudes(one)
            most = float(size[size.argmax()])
            if not most < MASK or _limits(tolerance, most, math.inf) is None:
                return False
            if not at:
                least = _least(size, most)
                limits = _limits(tolerance, min(most, 32 * least), least)
            if least:
                above, below = _split(size, least)
                large, small = large + above, small + below
            coming -= 1
        if limits is None or not _block(one, other, *limits):
            return False
    return limits is not None and (not least or large > small)


def _least(size: Array, most: float) -> float:
    """A power of two below which few of a block's elements are, but for zeros; 0 if it is not found soon.

    Args:
        most: the largest of ``size``.
    """
    if most < 2.0**-60:
        return 0.0
    some = size[:: max(1, size.size // _SOME)]
    power = math.ldexp(1.0, math.frexp(most)[1] - 5)
    for _ in range(6):
        above, below = _split(some, power)
        if above > 2 * below:
            return power
        power /= 4
    return 0.0


def _split(size: Array, least: float) -> tuple[int, int]:
    """How many elements are at least ``least``, and at most how many others are not 0."""
    mask = np.greater_equal(size, np.float32(least), out=_scratch.take("mask", np.bool_, size.size))
    above = int(np.count_nonzero(mask))
    if 2 * above > size.size:
        return above, size.size - above
    return above, int(np.count_nonzero(size.view(np.int32))) - above


def _limits(tolerance: Tolerance, scale: float, bulk: float) -> tuple[float, float] | None:
    """The parts of a slightly tighter tolerance: absolute and relative; None if float32 cannot tell."""
    floor, rtol = tolerance.floor(scale, bulk) * (1 - _SLACK), tolerance.rtol * (1 - _SLACK)
    return None if not math.isfinite(floor) or floor + rtol > 1e30 or 0 < rtol < 1e-30 else (floor, rtol)


def _whole(e: Source, f: Source, tolerance: Tolerance, scale: float, bulk: float) -> bool:
    limits = _limits(tolerance, scale, bulk)
    return limits is not None and all(
        _block(*blocks, *limits) for blocks in zip(e.blocks(BLOCK), f.blocks(BLOCK), strict=True)
    )


def _block(e: Array, f: Array, floor: float, rtol: float) -> bool:
    error = np.subtract(f, e, out=_scratch.take("error", np.float32, e.size))
    np.abs(error, out=error)
    most = float(error[error.argmax()])  # the first NaN, if there is one
    if not math.isfinite(most):
        return False
    if most <= floor:
        return True
    if not rtol:
        return False
    admitted = np.abs(e, out=_scratch.take("admitted", np.float32, e.size))
    np.multiply(admitted, np.float32(rtol), out=admitted)
    np.add(admitted, np.float32(floor - _TINY), out=admitted)
    if floor < _TINY:
        # If nothing is admitted, nothing may differ.
        np.maximum(admitted, np.float32(0), out=admitted)
    return bool(np.less_equal(error, admitted, out=_scratch.take("mask", np.bool_, e.size)).all())
