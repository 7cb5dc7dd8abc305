"""Whether a tolerance surely admits every element, found out cheaply; how far they are apart is ``measure``'s to say.

float32 is judged in float32: its rounding is paid for by a tolerance that is a little tighter. A pair that passes the
tighter one passes the stated one; a pair that does not is in doubt, and whoever asks has to measure it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.compare.scratch import Scratch
from harness.compare.tolerances import Tolerance

Array = np.ndarray[Any, np.dtype[Any]]

#: Elements looked at together: two temporaries of 256 KiB.
_BLOCK = 65_536
_scratch = Scratch(_BLOCK)
#: Part of a tolerance given up for the rounding of three float32 operations (each at most 2**-24).
_SLACK = 2.0**-20
#: Products below the smallest normal number are not rounded relatively.
_TINY = float(np.finfo(np.float32).tiny)


def surely_within(expected: Array, found: Array, tolerance: Tolerance, scale: float | None = None) -> bool:
    """True only if ``measure`` would find no element outside; False where that is not known.

    Args:
        expected, found: of one shape; anything but C-contiguous float32 is in doubt.
        tolerance: what is admitted; ``EXACT`` is in doubt.
        scale: the largest finite ``|e|``, if it is known already and ``tolerance.scaled`` asks for it.
    """
    if tolerance.exact or expected.dtype != np.float32 or found.dtype != np.float32:
        return False
    if expected.shape != found.shape or not (expected.flags.c_contiguous and found.flags.c_contiguous):
        return False
    e, f = expected.reshape(-1), found.reshape(-1)
    with np.errstate(all="ignore"):
        if scale is None:
            # The largest of the first block is not above the largest of all: what passes with it passes.
            scale = _largest(e[:_BLOCK]) if tolerance.scaled else 0.0
            if _whole(e, f, tolerance, scale):
                return True
            scale = _largest(e) if tolerance.scaled and e.size > _BLOCK else scale
        return _whole(e, f, tolerance, scale)


def _largest(block: Array) -> float:
    return float(np.maximum(block.max(initial=0.0), -block.min(initial=0.0)))


def _whole(e: Array, f: Array, tolerance: Tolerance, scale: float) -> bool:
    floor = (tolerance.atol + tolerance.scaled * scale) * (1 - _SLACK)
    rtol = tolerance.rtol * (1 - _SLACK)
    if not math.isfinite(floor) or floor + rtol > 1e30 or 0 < rtol < 1e-30:
        return False
    return all(_block(e[at : at + _BLOCK], f[at : at + _BLOCK], floor, rtol) for at in range(0, e.size, _BLOCK))


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
        # Where nothing is admitted, nothing may differ.
        np.maximum(admitted, np.float32(0), out=admitted)
    return bool(np.less_equal(error, admitted, out=_scratch.take("mask", np.bool_, e.size)).all())
