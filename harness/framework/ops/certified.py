"""Elementwise functions rounded once to a narrow dtype, with float64 if that is enough.

Long double, whose code is the same on every processor, takes twenty times as long as float64, whose results differ
between processors in the last few bits. If both ends of float64's error bound round to the same number, so does the
long double between them. Only the other elements are evaluated in long double, so all bits are those of long double.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.framework.ops import numerics
from harness.framework.ops.rounding import finish

Array = np.ndarray[Any, np.dtype[Any]]

#: The relative error bound of a float64 result: 512 units in the last place; C libraries and SIMD code stay below 8.
_OFF = 2.0**-44
#: Fewer elements than this are evaluated in long double directly.
_SMALL = 512
_NARROW = (dtypes.float32, dtypes.float16, dtypes.bfloat16)


def evaluated(
    function: Callable[..., Array], dtype: DType, *arrays: Array, size: Callable[..., Array] | None = None
) -> Array:
    """The result of ``numerics.widest``, rounded once to ``dtype`` if that is narrow.

    Args:
        function: elementwise, of arrays of one shape, float64 or long double; it computes in their dtype.
        size: of the arrays in float64, the size of the largest number that the function adds up; None: its result's.
    """
    if dtype not in _NARROW or arrays[0].size < _SMALL:
        return numerics.widest(function, *arrays)
    given = [numerics.wide(a) for a in arrays]
    with np.errstate(all="ignore"):
        near = np.asarray(function(*given))
        off = np.abs(near if size is None else size(*given)) * _OFF
        low, out = finish(near - off, dtype), finish(near + off, dtype)
    is_open = (
        (low.view(f"u{dtype.itemsize}") != out.view(f"u{dtype.itemsize}")) | ~np.isfinite(near) | ~np.isfinite(off)
    )
    if is_open.any():
        out[is_open] = finish(numerics.widest(function, *(a[is_open] for a in given)), dtype)
    return out
