"""Checks cheaply whether a tolerance surely admits every element; ``measure`` finds how far they are apart.

float32 is judged in float32; a slightly tighter tolerance accounts for the rounding. A pair that passes the tighter
tolerance passes the stated one; any other pair is in doubt, and the caller has to measure it.
"""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import numpy as np

from harness.compare.bulk import bulk_of
from harness.compare.scratch import Scratch
from harness.compare.source import Source, source
from harness.compare.tolerances import Tolerance

Array = np.ndarray[Any, np.dtype[Any]]

#: Elements processed together: two temporaries of 256 KiB.
_BLOCK = 65_536
_scratch = Scratch(_BLOCK)
#: Part of a tolerance reserved for the rounding of three float32 operations (each at most 2**-24).
_SLACK = 2.0**-20
#: Products below the smallest normal number are not rounded relatively.
_TINY = float(np.finfo(np.float32).tiny)


def surely_within(
    expected: Array | Source, found: Array | Source, tolerance: Tolerance, scale: float | None = None
) -> bool:
    """True only if ``measure`` would find no element outside; False if that is unknown.

    Args:
        expected, found: arrays of equal shape; anything but float32 is in doubt.
        tolerance: the tolerance to apply; ``EXACT`` is in doubt.
        scale: the largest finite ``|e|``, if it is known already and ``tolerance.scaled`` asks for it.
    """
    if tolerance.exact or expected.dtype != np.float32 or found.dtype != np.float32 or expected.shape != found.shape:
        return False
    e, f = source(expected), source(found)
    with np.errstate(all="ignore"):
        if not tolerance.scaled:
            return _whole(e, f, tolerance, 0.0, 0.0)
        bulk = bulk_of(e, f)
        if scale is None:
            # The largest of the first block is not above the largest of all: what passes with it passes.
            first = max(map(_largest, islice(e.blocks(_BLOCK), 1)), default=0.0)
            if _whole(e, f, tolerance, min(first, bulk.reach), bulk.size):
                return True
            if e.size <= _BLOCK:
                return False
            scale = max(map(_largest, e.blocks(_BLOCK)))
        return _whole(e, f, tolerance, min(scale, bulk.reach), bulk.size)


def _largest(block: Array) -> float:
    return float(np.maximum(block.max(initial=0.0), -block.min(initial=0.0)))


def _whole(e: Source, f: Source, tolerance: Tolerance, scale: float, bulk: float) -> bool:
    floor = tolerance.floor(scale, bulk) * (1 - _SLACK)
    rtol = tolerance.rtol * (1 - _SLACK)
    if not math.isfinite(floor) or floor + rtol > 1e30 or 0 < rtol < 1e-30:
        return False
    return all(_block(*blocks, floor, rtol) for blocks in zip(e.blocks(_BLOCK), f.blocks(_BLOCK), strict=True))


def _block(e: Array, f: Array, floor: float, rtol: float) -> bool:
    error = np.subtract(f, e, out=_scratch.take("error", np.float32, e.size))
    np.abs(error, out=error)
    largest = float(error[error.argmax()])  # the first NaN, if there is one
    if not math.isfinite(largest):
        return False
    if largest <= floor:
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
