"""Whether a computed tensor is the dumped one: in its bits, or within the noise floor of its operator."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.explain.claim import Held, given

Array = np.ndarray[Any, np.dtype[Any]]

#: a tensor with other bits must be this many times nearer than the other side's
_NEARER = 100.0
#: units in the last place of a tensor's root mean square that are rounding
_UNITS = 16


def reproduced(wanted: Array, made: Array, other: Array | None) -> Held | None:
    """Whether ``made`` reproduces ``wanted``; None if it does not.

    Equal bits are exact. Otherwise the two must differ only by rounding (16 units in the last place of the tensor's
    root mean square), and ``other``, the other run's tensor, must be ``_NEARER`` times as far away: a result that
    resembles the unchanged operator's shows nothing.

    Args:
        wanted: the dumped tensor.
        made: the computed tensor.
        other: the other run's tensor.
    """
    held = rounded(wanted, made)
    if held is None or held.exact:
        return held
    if other is None or other.shape != wanted.shape:
        return None
    w, m, o = (side.astype(np.float64) for side in (wanted, made, other))
    error = float(np.abs(w - m).max(initial=0.0))
    apart = float(np.abs(w - o).max(initial=0.0))
    return held if np.isnan(apart) or apart > _NEARER * error else None


def rounded(wanted: Array, made: Array) -> Held | None:
    """Whether two tensors are equal bit for bit, or differ by at most 16 units in the last place of their root mean
    square."""
    if wanted.dtype.kind not in "fV" or made.dtype != wanted.dtype or made.shape != wanted.shape:
        return given(made, wanted, lambda: 0.0)

    def noise() -> float:
        values = wanted.astype(np.float64)
        if not (np.isfinite(values).all() and np.isfinite(made.astype(np.float64)).all()):
            return -1.0
        unit = 2.0**-8 if wanted.dtype.kind == "V" else float(np.finfo(wanted.dtype).eps)
        return _UNITS * unit * (float(np.sqrt(np.mean(values * values))) if values.size else 0.0)

    return given(made, wanted, noise)
