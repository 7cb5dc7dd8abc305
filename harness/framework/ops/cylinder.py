"""Bessel's functions J, Y and K of orders 0 and 1, in long double with a fixed order of operations.

J and Y come of Miller's recurrence below ``_FAR`` and of Hankel's series from there on, K of an integral and of its
asymptotic series.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_PI = np.longdouble("3.14159265358979323846264338327950288")
_EULER = np.longdouble("0.577215664901532860606512090082402431")
#: from here on the asymptotic series are exact to the last place
_FAR = 30
_LATE_TERMS = 40
#: below, the first two terms of the series at 0 are exact to the last place
_NEAR = np.longdouble("1e-6")
#: the recurrence starts at this order
_HIGHEST = 90
#: the integral of K: its step, and where its integrand has vanished
_STEP = np.longdouble("0.1")
_STEPS = 320


def _hankel(order: int, x: Array) -> tuple[Array, Array]:
    """The two series whose products with a cosine and a sine are J and Y of large ``x``."""
    sums = [np.ones_like(x), np.zeros_like(x)]
    term = np.ones_like(x)
    for n in range(1, _LATE_TERMS):
        term = term * (4 * order * order - (2 * n - 1) ** 2) / (8 * n * x)
        sums[n % 2] = sums[n % 2] + (term if n % 4 < 2 else -term)
    return sums[0], sums[1]


def _far(order: int, x: Array) -> tuple[Array, Array]:
    even, odd = _hankel(order, x)
    angle = x - (2 * order + 1) * _PI / 4
    size = np.sqrt(2 / (_PI * x))
    cosine, sine = np.cos(angle), np.sin(angle)
    return size * (even * cosine - odd * sine), size * (even * sine + odd * cosine)


def _middle(order: int, x: Array) -> tuple[Array, Array]:
    above, at = np.zeros_like(x), np.full_like(x, np.longdouble("1e-4000"))
    whole, beside, zeroth = np.zeros_like(x), np.zeros_like(x), at
    found = at
    for n in range(_HIGHEST, -1, -1):
        if n == order:
            found = at
        if n % 2 == 0:
            whole = whole + (2 * at if n else at)
        if n % 2 == order and n > order:
            k = (n - order) // 2
            share = np.longdouble(n) / (k * (k + order))
            beside = beside + (-share if k % 2 else share) * at
        zeroth = at
        above, at = at, 2 * n / x * at - above
    bend = np.log(x / 2) + _EULER - order
    j = found / whole
    y = 2 / _PI * (bend * j - beside / whole)
    return j, y - 2 / (_PI * x) * zeroth / whole if order else y


def _near(order: int, x: Array) -> tuple[Array, Array]:
    square = x * x / 4
    bend = np.log(x / 2) + _EULER
    if order:
        j = x / 2 * (1 - square / 2)
        return j, 2 / _PI * (bend * j - x / 4) - 2 / (_PI * x)
    j = 1 - square
    return j, 2 / _PI * (bend * j + square)


def _both(order: int, x: Array) -> tuple[Array, Array]:
    """J and Y of ``order`` for x above 0."""
    parts = ((_near, x < _NEAR), (_middle, (x >= _NEAR) & (x < _FAR)), (_far, x >= _FAR))
    j, y = np.full_like(x, np.nan), np.full_like(x, np.nan)
    for rule, where in parts:
        if where.any():
            j[where], y[where] = rule(order, x[where])
    return j, y


def j(order: int, x: Array) -> Array:
    """J of ``order`` 0 or 1; NaN at both infinities, as MindSpore's CPU has it."""
    x = np.asarray(x, np.longdouble)
    size = np.abs(x)
    usual = np.isfinite(x) & (size > 0)
    out = np.where(size == 0, x if order else np.ones_like(x), np.nan)
    out[usual] = _both(order, size[usual])[0] * (np.sign(x[usual]) if order else 1)
    return out


def y(order: int, x: Array) -> Array:
    """Y of ``order`` 0 or 1; -inf below 0, and at 0 for order 0 alone: NaN for order 1, as MindSpore's CPU has it."""
    x = np.asarray(x, np.longdouble)
    usual = np.isfinite(x) & (x > 0)
    out = np.where(x < 0, -np.inf, np.where((x == 0) & (order == 0), -np.inf, np.nan)).astype(np.longdouble)
    out[usual] = _both(order, x[usual])[1]
    return out


def phased(order: int, x: Array, second: bool) -> Array:
    """J or Y where the angle of their wave is rounded to Float32 before its cosine is taken, as MindSpore's CPU does
    for Float32 beyond 2: farther out this moves the result more than anything else."""
    x = np.asarray(x, np.longdouble)
    far = np.isfinite(x) & (np.abs(x) > 2)
    out = y(order, x) if second else j(order, x)
    size = np.abs(x[far])
    first, other = _both(order, size)
    quarter = (2 * order + 1) * _PI / 4
    turned = size - quarter
    # The angle's distance from that of the first term, which is small: of the same wave, turned back.
    shift = np.arctan2(other * np.cos(turned) - first * np.sin(turned), first * np.cos(turned) + other * np.sin(turned))
    rounded = (shift - quarter).astype(np.float32) + size.astype(np.float32)
    wave = np.sin if second else np.cos
    value = np.hypot(first, other) * wave(rounded.astype(np.longdouble))
    kept = np.where(x[far] < 0, -np.inf if second else -value if order else value, value)
    out[far] = kept
    return out


def k(order: int, x: Array) -> Array:
    """K of ``order`` 0 or 1 times e ** x; infinite from 0 down, 0 at infinity."""
    x = np.asarray(x, np.longdouble)
    out = np.where(np.isnan(x), np.nan, np.where(x > 0, 0, np.inf)).astype(np.longdouble)
    usual = np.isfinite(x) & (x > 0)
    out[usual] = _scaled(order, x[usual])
    return out


def _scaled(order: int, x: Array) -> Array:
    late, term = np.ones_like(x), np.ones_like(x)
    far = np.maximum(x, _FAR)
    for n in range(1, _LATE_TERMS):
        term = term * (4 * order * order - (2 * n - 1) ** 2) / (8 * n * far)
        late = late + term
    late = late * np.sqrt(_PI / (2 * far))
    within = np.clip(x, _NEAR, _FAR)
    total: Any = np.longdouble(0.5)
    for n in range(1, _STEPS):
        place = n * _STEP
        total = total + np.exp(-within * (np.cosh(place) - 1)) * (np.cosh(place) if order else 1)
    total = total * _STEP
    first = 1 / x if order else -np.log(x / 2) - _EULER
    return np.where(x < _NEAR, first, np.where(x < _FAR, total, late))
