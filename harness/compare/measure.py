"""How far two arrays are apart: absolutely, relatively, in units in the last place, as vectors; and where most.

Blocked: memory use does not grow with the arrays. Exact: integers are subtracted as integers, 64-bit ones too;
floating-point numbers as float64, which holds all narrower ones.
"""

from __future__ import annotations

import numpy as np

from harness import dtypes
from harness.compare.floats import Floats, wide
from harness.compare.integers import Integers
from harness.compare.measurement import Measurement
from harness.compare.near import Near
from harness.compare.running import Array, Running
from harness.compare.tolerances import EXACT, Tolerance

#: Elements looked at together: a dozen temporaries of 256 KiB.
_BLOCK = 32_768


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
    flat_expected, flat_found = np.ascontiguousarray(expected).reshape(-1), np.ascontiguousarray(found).reshape(-1)
    running: Running
    if dtype.kind in "fc":
        kind = Near if dtype.numpy == np.float32 else Floats
        running = kind(dtype, tolerance, lambda: largest(flat_expected))
    else:
        running = Integers(dtype)
    with np.errstate(all="ignore"):
        for start in range(0, expected.size, _BLOCK):
            running.add(start, flat_expected[start : start + _BLOCK], flat_found[start : start + _BLOCK])
    return running.result(expected.shape, flat_expected, flat_found)


def largest(array: Array) -> float:
    """The largest finite magnitude of a 1-D array of floating-point or complex numbers; 0 where there is none."""
    peak = 0.0
    with np.errstate(all="ignore"):
        for start in range(0, array.size, _BLOCK):
            peak = max(peak, _peak(array[start : start + _BLOCK]))
    return peak


def _peak(block: Array) -> float:
    if block.dtype in (np.float32, np.float64):
        peak = max(float(block.max()), -float(block.min()))
        if np.isfinite(peak):
            return peak
    size = np.abs(wide(block))
    return float(size[np.isfinite(size)].max(initial=0.0))
