"""The gamma function's relatives, zeta and the inverse of erf, in long double with a fixed order of operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.framework.ops import special

Array = np.ndarray[Any, np.dtype[Any]]

_PI = np.longdouble("3.14159265358979323846264338327950288")
#: numerators and denominators of Bernoulli's numbers 2, 4, 6 ... 20
_BERNOULLI = ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510), (43867, 798),
              (-174611, 330))  # fmt: skip
#: from here on the asymptotic series are exact to the last place; smaller arguments are moved up one by one
_LARGE = 20
#: steps of the series and of the continued fraction of the incomplete gamma functions
_STEPS = 400


def _moved(x: Array) -> tuple[Array, list[tuple[Array, Array]]]:
    """``x`` moved up by whole numbers until it is large, and (values, where) at which a term is to be taken off."""
    steps = []
    at = x.copy()
    for _ in range(_LARGE):
        below = at < _LARGE
        steps.append((at.copy(), below))
        at = np.where(below, at + 1, at)
    return at, steps


def _positive_lgamma(x: Array) -> Array:
    large, steps = _moved(x)
    total = (large - np.longdouble(0.5)) * np.log(large) - large + np.log(2 * _PI) / 2
    power = large.copy()
    for n, (up, down) in enumerate(_BERNOULLI, 1):
        total = total + np.longdouble(up) / down / (2 * n * (2 * n - 1)) / power
        power = power * large * large
    for value, where in steps:
        total = total - np.where(where, np.log(np.where(where, value, 1)), 0)
    # Near its zeros the sum above cancels; they are exact.
    return np.where((x == 1) | (x == 2), 0, total)


def lgamma(x: Array) -> Array:
    """The logarithm of the size of gamma; infinite at 0, -1, -2 ..."""
    x = np.asarray(x, np.longdouble)
    mirrored = x < 0.5
    out = _positive_lgamma(np.where(mirrored, 1 - x, x))
    sine = np.abs(np.sin(_PI * (x - np.floor(x))))
    whole = mirrored & (x == np.floor(x))
    reflected = np.log(_PI) - np.log(np.where(whole, 1, sine)) - out
    out = np.where(mirrored, np.where(whole, np.inf, reflected), out)
    return np.where(np.isinf(x), np.inf, out)


def digamma(x: Array) -> Array:
    """The derivative of ``lgamma``; NaN at -1, -2 ... and -inf at 0 (as MindSpore's CPU, measured)."""
    x = np.asarray(x, np.longdouble)
    mirrored = x < 0.5
    large, steps = _moved(np.where(mirrored, 1 - x, x))
    total = np.log(large) - 1 / (2 * large)
    power = large * large
    for n, (up, down) in enumerate(_BERNOULLI, 1):
        total = total - np.longdouble(up) / down / (2 * n) / power
        power = power * large * large
    for value, where in steps:
        total = total - np.where(where, 1 / np.where(where, value, 1), 0)
    part = x - np.floor(x)
    reflected = total - _PI * np.cos(_PI * part) / np.where(part == 0, np.nan, np.sin(_PI * part))
    return np.where(x == 0, -np.inf, np.where(mirrored, reflected, total))


def zeta(s: Array, q: Array) -> Array:
    """Hurwitz's sum of (q + n) ** -s for n from 0; infinite for s = 1, NaN for s < 1."""
    s, q = np.broadcast_arrays(np.asarray(s, np.longdouble), np.asarray(q, np.longdouble))
    total, at = np.zeros(s.shape, np.longdouble), q.copy()
    for _ in range(_LARGE):
        total = total + at**-s
        at = at + 1
    total = total + at ** (1 - s) / (s - 1) + at**-s / 2
    term = s * at ** (-s - 1)
    factor = np.longdouble(1)
    for n, (up, down) in enumerate(_BERNOULLI, 1):
        factor = factor * (2 * n) * (2 * n - 1)
        total = total + np.longdouble(up) / down / factor * term
        term = term * (s + 2 * n - 1) * (s + 2 * n) / (at * at)
    return np.where(s > 1, total, np.where(s == 1, np.inf, np.nan))


def polygamma(order: int, x: Array) -> Array:
    """Derivative number ``order`` of ``digamma``, for ``x`` above 0."""
    if order == 0:
        return digamma(x)
    factorial = np.longdouble(1)
    for n in range(2, order + 1):
        factorial = factorial * n
    x = np.where(np.isinf(x), np.nan, x)
    found: Array = (-1) ** (order + 1) * factorial * zeta(np.asarray(order + 1, np.longdouble), x)
    return found


def erfinv(x: Array) -> Array:
    """The argument at which erf is ``x``: Newton's steps from a first guess, near 1 in terms of erfc."""
    x = np.asarray(x, np.longdouble)
    inside = np.abs(x) < 1
    size = np.where(inside, np.abs(x), 0)
    logarithm = np.log1p(-size * size)
    # Winitzki's approximation, good to 0.002.
    a = np.longdouble("0.147")
    b = 2 / (_PI * a) + logarithm / 2
    guess: Array = np.sqrt(np.sqrt(b * b - logarithm / a) - b)
    for _ in range(4):
        off = np.where(size < 0.5, special.erf(guess) - size, (1 - size) - special.erfc(guess))
        step = off * np.sqrt(_PI) / 2 * np.exp(guess * guess)
        guess = guess - step / (1 + guess * step)
    edge = np.where(np.abs(x) == 1, np.inf, np.nan)
    return np.asarray(np.where(inside, np.copysign(guess, x), np.copysign(edge, x)))


def igamma(a: Array, x: Array) -> tuple[Array, Array]:
    """The lower and the upper regularized incomplete gamma function."""
    a, x = np.broadcast_arrays(np.asarray(a, np.longdouble), np.asarray(x, np.longdouble))
    with np.errstate(all="ignore"):
        factor = np.exp(a * np.log(x) - x - lgamma(a))
        series = x < a + 1
        lower = np.where(series, _series(a, np.where(series, x, 1)) * factor, 1)
        upper = np.where(series, 1 - lower, _fraction(a, np.where(series, a + 2, x)) * factor)
    lower = np.where(series, lower, 1 - upper)
    valid = (a > 0) & (x >= 0)
    lower = np.where(x == 0, 0, np.where(np.isinf(x), 1, lower))
    return np.where(valid, lower, np.nan), np.where(
        valid, np.where(x == 0, 1, np.where(np.isinf(x), np.nan, upper)), np.nan
    )


def _series(a: Array, x: Array) -> Array:
    term = 1 / a
    total = term.copy()
    for n in range(1, _STEPS):
        term = term * x / (a + n)
        total = total + term
    return total


def _fraction(a: Array, x: Array) -> Array:
    below = x + 2 * _STEPS + 1 - a
    for n in range(_STEPS, 0, -1):
        below = x + 2 * n - 1 - a - n * (n - a) / below
    return 1 / below


def igamma_slope(a: Array, x: Array) -> Array:
    """The derivative of the lower one by ``a``: a difference over steps too small to show and too large to cancel."""
    step = np.longdouble(1e-5) * np.maximum(np.asarray(a, np.longdouble), 1e-3)
    (_, up), (_, down) = igamma(a + step, x), igamma(a - step, x)
    (low_up, _), (low_down, _) = igamma(a + step, x), igamma(a - step, x)
    return np.where(low_up < 0.5, low_up - low_down, down - up) / (2 * step)
