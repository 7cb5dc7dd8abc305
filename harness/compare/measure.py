"""Measures how far two arrays are apart: absolutely, relatively, in units in the last place, as vectors; and where.

It works in blocks, so that memory use does not grow with the arrays. It is exact: integers are subtracted as integers,
including 64-bit ones; floating-point numbers as float64, which holds all narrower ones.
"""

from __future__ import annotations

import numpy as np

from harness import dtypes
from harness.compare.accumulator import Accumulator, Array
from harness.compare.bulk import BLOCK, Bulk, BulkCounter, bulk_of, largest
from harness.compare.float32_errors import Near
from harness.compare.floats import Floats
from harness.compare.integers import Integers
from harness.compare.measurement import Measurement
from harness.compare.source import Source, source
from harness.compare.tolerances import EXACT, Tolerance


def measure(
    expected: Array | Source, found: Array | Source, dtype_name: str, tolerance: Tolerance = EXACT,
    *, until_outside: bool = False,
) -> Measurement:  # fmt: skip
    """Measures ``found`` against ``expected``, both of the same shape and of the dtype ``dtype_name``.

    Args:
        expected: numbers of the numpy dtype that holds ``dtype_name``; any shape, also 0-d and empty.
        found: the other array, of the same dtype and shape.
        dtype_name: MindSpore dtype name.
        tolerance: see ``Tolerance``; for integers and bools anything unequal is outside.
        until_outside: whether to stop after the first block with an element outside; the rest is not measured then.

    Raises:
        ValueError: shapes or dtypes differ from the stated ones (the caller judges those first).

    Examples:
        >>> import numpy as np
        >>> from harness.compare import measure
        >>> measured = measure(np.float32([1, 2, 4]), np.float32([1, 2, 5]), "Float32")
        >>> measured.unequal, measured.max_abs, measured.max_rel, measured.worst.index
        (1, 1.0, 0.25, (2,))
    """
    dtype = dtypes.by_name(dtype_name)
    one, other = source(expected), source(found)
    if one.shape != other.shape or not one.dtype == other.dtype == dtype.numpy:
        raise ValueError(f"cannot measure {other.dtype}{other.shape} against {one.dtype}{one.shape}")
    counter = BulkCounter(one.size)

    def bulk() -> Bulk:
        known = one.found_out.get(other) or counter.bulk()
        return bulk_of(one, other) if known is None else known

    accumulator: Accumulator = Integers(dtype)
    if is_float := dtype.kind in "fc":
        kind = Near if dtype.numpy == np.float32 else Floats
        accumulator = kind(dtype, tolerance, lambda: largest(one), bulk)
    start = 0
    with np.errstate(all="ignore"):
        for blocks in zip(one.blocks(BLOCK), other.blocks(BLOCK), strict=True):
            accumulator.add(start, *blocks)
            if is_float and other not in one.found_out:
                counter.add(*blocks)
            start += BLOCK
            if until_outside and accumulator.outside:
                break
    return accumulator.result(one, other)


def admitted(expected: Array, tolerance: Tolerance) -> Array | None:
    """The error that a tolerance admits of each element, float64, but for ``max_ulp``; None where it admits none.

    Args:
        expected: floating-point numbers, any shape.
        tolerance: see ``Tolerance``.
    """
    if tolerance.exact or not (tolerance.rtol or tolerance.atol or tolerance.scaled):
        return None
    kept = source(expected)
    bulk = bulk_of(kept, kept)
    floor = tolerance.floor(min(largest(kept), bulk.reach), bulk.size)
    return np.asarray(floor + tolerance.rtol * np.abs(expected.astype(np.float64)))
