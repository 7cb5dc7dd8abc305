"""Computes one sum of products exactly, if no bound could settle it.

A sum is returned as its nearest float64 and the sign of the remainder, so it can be rounded once to any dtype.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.framework.ops.rounding import finish

Array = np.ndarray[Any, np.dtype[Any]]

#: Veltkamp's constant: cuts a float64 into two halves of 26 bits
_HALVES = float(2**27 + 1)
#: a float64's mantissa as an integer
_MANTISSA = float(2**53)
_SMALLEST = 5e-324


def of_exact_products(x: Array, y: Array) -> tuple[float, float]:
    """The sum of ``x * y`` (float64 vectors) where each product is exact: float64, and the rest's sign (-1, 0, 1)."""
    return of_terms((x * y).tolist())


def of_products(x: Array, y: Array) -> tuple[float, float]:
    """As ``of_exact_products`` for any float64 of a size between 2**-250 and 2**250, or 0."""
    product = x * y
    return of_terms([*product.tolist(), *lost(x, y, product).tolist()])


def lost(x: Array, y: Array, product: Array) -> Array:
    """The exact rounding error of ``product = x * y`` (Veltkamp, Dekker), for numbers as in ``of_products``."""
    x1, y1 = _HALVES * x, _HALVES * y
    x1, y1 = x1 - (x1 - x), y1 - (y1 - y)
    x2, y2 = x - x1, y - y1
    return np.asarray(x2 * y2 - (((product - x1 * y1) - x2 * y1) - x1 * y2))


def of_anything(x: Array, y: Array) -> tuple[float, float]:
    """As ``of_exact_products`` for any finite float64, in integers; infinity where the sum is out of range."""
    mantissas, powers = zip(*map(np.frexp, (x, y)), strict=True)
    left, right = ((m * _MANTISSA).astype(np.int64).tolist() for m in mantissas)
    shifts = (powers[0].astype(np.int64) + powers[1]).tolist()
    products = [(a * b, s) for a, b, s in zip(left, right, shifts, strict=True) if a and b]
    if not products:
        return 0.0, 0.0
    lowest = min(s for _p, s in products)
    whole = sum(p << (s - lowest) for p, s in products)
    return _ratio(whole, lowest - 106)


def _ratio(whole: int, power: int) -> tuple[float, float]:
    """``whole * 2 ** power``, as the others give it."""
    above, below = (whole << power, 1) if power > 0 else (whole, 1 << -power)
    try:
        near = above / below
    except OverflowError:
        return math.inf if whole > 0 else -math.inf, 0.0
    n, d = near.as_integer_ratio()
    rest = above * d - n * below
    return near, float((rest > 0) - (rest < 0))


def of_terms(terms: list[float]) -> tuple[float, float]:
    """As ``of_exact_products`` for finite numbers themselves; the list is changed."""
    near = math.fsum(terms)
    terms.append(-near)
    rest = math.fsum(terms)
    return near, float((rest > 0) - (rest < 0))


def rounded(near: Array, rest: Array, dtype: DType) -> Array:
    """Sums (n,) as the functions above give them, rounded once to ``dtype``."""
    if dtype is dtypes.float64:
        return near
    bits = near.copy().view(np.int64)
    away = (rest > 0) == (near > 0)
    even = (bits & 1 == 0) & (rest != 0) & np.isfinite(near)
    bits[even & (near != 0)] += np.where(away, 1, -1)[even & (near != 0)]
    odd = bits.view(np.float64)
    return finish(np.where(even & (near == 0), np.copysign(_SMALLEST, rest), odd), dtype)
