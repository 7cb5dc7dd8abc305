"""Whether a computed tensor equals the dumped one: in its bits, or within the noise floor of its operator."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

#: a tensor with other bits must be this many times nearer than the other side's
_NEARER = 100.0


def is_reproduced(op: str, wanted: Array, made: Array, other: Array | None) -> bool:
    """Whether ``made`` reproduces ``wanted``.

    Equal bits do. Otherwise the two must differ only by rounding (16 units in the last place of the tensor's root mean
    square), and ``other``, the other run's tensor, must be ``_NEARER`` times as far away: a result that resembles the
    unchanged operator's proves nothing.

    Args:
        op: the operator's type, for debugging.
        wanted: the dumped tensor.
        made: the computed tensor.
        other: the other run's tensor.
    """
    if wanted.dtype == made.dtype and wanted.tobytes() == made.tobytes():
        return True
    if wanted.dtype.kind not in "fV" or made.dtype != wanted.dtype or other is None or other.shape != wanted.shape:
        return False
    w, m, o = (side.astype(np.float64) for side in (wanted, made, other))
    if not is_rounding(wanted, made):
        return False
    error = float(np.abs(w - m).max(initial=0.0))
    apart = float(np.abs(w - o).max(initial=0.0))
    return bool(np.isnan(apart) or apart > _NEARER * error)


def is_rounding(wanted: Array, made: Array) -> bool:
    """Whether two tensors are equal bit for bit, or differ by at most 16 units in the last place of their root mean
    square."""
    if wanted.dtype == made.dtype and wanted.tobytes() == made.tobytes():
        return True
    if wanted.dtype.kind not in "fV" or made.dtype != wanted.dtype or made.shape != wanted.shape:
        return False
    w, m = wanted.astype(np.float64), made.astype(np.float64)
    if not (np.isfinite(w) & np.isfinite(m)).all():
        return False
    unit = 2.0**-8 if wanted.dtype.kind == "V" else float(np.finfo(wanted.dtype).eps)
    size = float(np.sqrt(np.mean(w * w))) if w.size else 0.0
    return float(np.abs(w - m).max(initial=0.0)) <= 16 * unit * size
