"""The treatment of results outside a floating dtype's range.

Ascend has two modes. INFNAN is IEEE: Inf and NaN are kept. SATURATION replaces Inf by the largest finite value of its
sign and NaN by 0. The first chips have saturation only; the later ones choose at start by an environment variable.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from enum import Enum
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

#: the variable, and the one text that means saturation; any other text, or none, means INFNAN
VARIABLE = "MS_ASCEND_CHECK_OVERFLOW_MODE"
SATURATION_TEXT = "SATURATION_MODE"
#: chips on which the variable is read; the last is Atlas A3
SWITCHABLE = frozenset({"ascend910b", "ascend910_93"})
#: chips that saturate whatever the variable says
SATURATING = frozenset({"ascend910", "ascend910a", "ascend310", "ascend310p"})


class Overflow(Enum):
    """The mode; the values are those of the runtime's enumeration."""

    SATURATION = 0
    INFNAN = 1


def overflow_mode(soc: str | None, environ: Mapping[str, str]) -> Overflow:
    """The mode of chip ``soc`` (any case; None: no Ascend) under ``environ``."""
    chip = (soc or "").lower()
    if chip in SATURATING:
        return Overflow.SATURATION
    if chip in SWITCHABLE and environ.get(VARIABLE) == SATURATION_TEXT:
        return Overflow.SATURATION
    return Overflow.INFNAN


class Status(threading.local):
    """The status bit of the saturating unit: it shows that a result left the range since the bit was cleared. A
    saturated value looks like any other number, so only the bit tells. One per thread.

    Attributes:
        raised: whether something was saturated.
    """

    raised = False


STATUS = Status()


def is_floating(array: Array) -> bool:
    """Whether ``array`` is float16, bfloat16, float32 or float64."""
    return array.dtype.kind == "f" or array.dtype == ml_dtypes.bfloat16


def saturate(array: Array, in_place: bool = False, top: float | None = None) -> Array:
    """``array`` with Inf as the largest finite value of its sign and NaN as 0; raises ``STATUS`` where it has some.

    Args:
        array: any dtype and shape; what is not floating comes back as it is.
        in_place: change ``array`` itself.
        top: what stands for Inf; the largest finite value of the dtype if None.

    Returns:
        ``array`` itself where nothing had to change or ``in_place`` is set, else a changed copy.
    """
    if not is_floating(array):
        return array
    wild = ~np.isfinite(array)
    if not wild.any():
        return array
    STATUS.raised = True
    out = array if in_place else array.copy()
    limit = largest(array.dtype) if top is None else array.dtype.type(top)
    values = out[wild]
    signed = np.where(np.signbit(values), -limit, limit)
    out[wild] = np.where(np.isnan(values), np.zeros_like(values), signed)
    return out


def largest(dtype: Any) -> Any:
    """Largest finite value of a floating numpy dtype, as a scalar of it."""
    target = np.dtype(dtype)
    info: Any = ml_dtypes.finfo if target == ml_dtypes.bfloat16 else np.finfo
    return target.type(info(target).max)
