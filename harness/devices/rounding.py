"""Rounds float32 for the matrix units of devices, and any array to a narrower floating dtype.

Every function is elementwise, gives the same bits on every processor and keeps NaN, Inf and zeros of either sign.

Sources: TF32 by round-to-nearest-away is ``(bits + 0x1000) & 0xFFFFE000``, and a tensor core that is given raw float32
reads the top 10 mantissa bits only (both from the vendor's documents). That HF32 keeps 11 mantissa bits and rounds to
nearest even is inferred from error thresholds of the vendor's precision standard, not measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from harness.devices.overflow import saturate
from harness.errors import DtypeError, UnknownNameError

Array = np.ndarray[Any, np.dtype[Any]]

HF32_BITS = 11
TF32_BITS = 10
BFLOAT16_BITS = 7
_MANTISSA = 23


def _bits(x: Array) -> Array:
    if x.dtype != np.float32:
        raise DtypeError(f"this rounding takes float32, got {x.dtype}")
    return np.ascontiguousarray(x).view(np.uint32).reshape(x.shape)


def _floats(bits: Array, given: Array) -> Array:
    """``bits`` as float32; where ``given`` is not finite, ``given`` itself."""
    out = bits.astype(np.uint32, copy=False).view(np.float32)
    return np.where(np.isfinite(given), out, given)


def nearest_even(x: Array, kept: int) -> Array:
    """Float32 ``x`` with ``kept`` (1 to 22) explicit mantissa bits, to nearest, ties to even; may become Inf."""
    drop = np.uint32(_MANTISSA - kept)
    bits = _bits(x)
    half = np.uint32((1 << int(drop) - 1) - 1)
    rounded = bits + half + ((bits >> drop) & np.uint32(1))
    return _floats(rounded & ~np.uint32((1 << int(drop)) - 1), x)


def nearest_away(x: Array, kept: int) -> Array:
    """Float32 ``x`` with ``kept`` explicit mantissa bits, to nearest, ties away from zero; may become Inf."""
    drop = _MANTISSA - kept
    return _floats((_bits(x) + np.uint32(1 << drop - 1)) & ~np.uint32((1 << drop) - 1), x)


def toward_zero(x: Array, kept: int) -> Array:
    """Float32 ``x`` with ``kept`` explicit mantissa bits, the rest cut off."""
    return _floats(_bits(x) & ~np.uint32((1 << _MANTISSA - kept) - 1), x)


def hf32(x: Array) -> Array:
    """Float32 ``x`` as Ascend's HF32 (11 mantissa bits, nearest even)."""
    return nearest_even(x, HF32_BITS)


def tf32(x: Array) -> Array:
    """Float32 ``x`` as TF32 (10 mantissa bits, nearest, ties away)."""
    return nearest_away(x, TF32_BITS)


def tf32_cut(x: Array) -> Array:
    """Float32 ``x`` as a tensor core reads it without conversion (10 mantissa bits, rest cut off)."""
    return toward_zero(x, TF32_BITS)


def bfloat16(x: Array) -> Array:
    """Float32 ``x`` rounded to bfloat16's values (nearest even), as float32."""
    return nearest_even(x, BFLOAT16_BITS)


def float16(x: Array) -> Array:
    """Float32 ``x`` rounded to float16's values (nearest even), as float32; 65520 and above become Inf."""
    with np.errstate(all="ignore"):
        return x.astype(np.float16).astype(np.float32)


def unchanged(x: Array) -> Array:
    """``x``."""
    return x


@dataclass(frozen=True, slots=True)
class Rounding:
    """One way to round float32.

    Attributes:
        apply: float32 array to float32 array.
        largest: largest finite value it gives.
    """

    apply: Callable[[Array], Array]
    largest: float


def _largest(kept: int) -> float:
    return float(toward_zero(np.array([np.finfo(np.float32).max]), kept)[0])


ROUNDINGS: dict[str, Rounding] = {
    "float32": Rounding(unchanged, float(np.finfo(np.float32).max)),
    "hf32": Rounding(hf32, _largest(HF32_BITS)),
    "tf32": Rounding(tf32, _largest(TF32_BITS)),
    "tf32-cut": Rounding(tf32_cut, _largest(TF32_BITS)),
    "bfloat16": Rounding(bfloat16, _largest(BFLOAT16_BITS)),
    "float16": Rounding(float16, float(np.finfo(np.float16).max)),
}


def rounding(name: str) -> Rounding:
    """The row of ``ROUNDINGS``; ``UnknownNameError`` names those there are."""
    try:
        return ROUNDINGS[name]
    except KeyError:
        raise UnknownNameError(f"no rounding is called {name!r}; known are {', '.join(ROUNDINGS)}") from None


def convert(x: Array, dtype: Any, saturating: bool = False) -> Array:
    """``x`` cast to a floating numpy dtype, to nearest even.

    Args:
        x: any real array.
        dtype: float16, bfloat16, float32 or float64.
        saturating: what leaves the range becomes the largest finite value, NaN becomes 0; otherwise Inf and NaN.
    """
    target = np.dtype(dtype)
    if target.kind != "f" and target != ml_dtypes.bfloat16:
        raise DtypeError(f"conversion to a floating dtype was asked for, got {target}")
    with np.errstate(all="ignore"):
        out = x.astype(target)
    return saturate(out, in_place=True) if saturating else out
