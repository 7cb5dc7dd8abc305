"""Special functions numpy lacks, in long double with a fixed order of operations."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_ROOT_PI = np.sqrt(np.longdouble("3.14159265358979323846264338327950288"))
#: up to here the series is summed, from here on the continued fraction
_SERIES_TO = 2.0
#: terms of the series; the first left out is below 1e-21 of the sum
_TERMS = 40
#: levels of the continued fraction; the rest is below 1e-19 of it
_LEVELS = 72


def erf(x: Array) -> Any:
    """The error function, in long double."""
    x = np.asarray(x, np.longdouble)
    out = np.array(x)
    near, far = _split(x)
    out[near] = _near_erf(x[near])
    out[far] = np.copysign(1 - _far_erfc(np.abs(x[far])), x[far])
    return out


def erfc(x: Array) -> Any:
    """1 - erf(x), exact for large ``x`` too, in long double."""
    x = np.asarray(x, np.longdouble)
    out = np.array(x)
    near, far = _split(x)
    out[near] = 1 - _near_erf(x[near])
    tail = _far_erfc(np.abs(x[far]))
    out[far] = np.where(x[far] > 0, tail, 2 - tail)
    return out


def _split(x: Array) -> tuple[Array, Array]:
    """The elements for the series, and those for the continued fraction (NaN: neither)."""
    size = np.abs(x)
    return size < _SERIES_TO, size >= _SERIES_TO


def _near_erf(x: Array) -> Any:
    """2/sqrt(pi) * exp(-x^2) * sum of x (2 x^2)^n / (1 * 3 * ... * (2n + 1)): all terms of one sign."""
    double_square = 2 * x * x
    term = x.copy()
    total = x.copy()
    for n in range(1, _TERMS):
        term *= double_square
        term /= 2 * n + 1
        total += term
    return 2 / _ROOT_PI * np.exp(-x * x) * total


def _far_erfc(x: Array) -> Any:
    """exp(-x^2) / sqrt(pi) / (x + (1/2)/(x + (2/2)/(x + (3/2)/(x + ...)))) for x of at least ``_SERIES_TO``."""
    finite = np.minimum(x, np.longdouble(200))
    below = finite.copy()
    for n in range(_LEVELS, 0, -1):
        np.divide(np.longdouble(n) / 2, below, out=below)
        below += finite
    return np.exp(-finite * finite) / _ROOT_PI / below
