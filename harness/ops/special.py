"""Special functions numpy lacks, in long double with a fixed order of operations."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_ROOT_PI = np.sqrt(np.longdouble("3.14159265358979323846264338327950288"))
#: terms of the series; enough for 1e-19 below ``_SERIES_TO``
_TERMS = 64
#: levels of the continued fraction; enough for 1e-19 from ``_SERIES_TO`` on
_LEVELS = 128
_SERIES_TO = 2.0


def erf(x: Array) -> Array:
    """The error function, in long double."""
    x = np.asarray(x, np.longdouble)
    size = np.abs(x)
    far = np.copysign(1 - _far_erfc(np.maximum(size, _SERIES_TO)), x)
    return np.where(size < _SERIES_TO, _near_erf(np.clip(x, -_SERIES_TO, _SERIES_TO)), np.where(np.isnan(x), x, far))


def erfc(x: Array) -> Array:
    """1 - erf(x), exact for large ``x`` too, in long double."""
    x = np.asarray(x, np.longdouble)
    size = np.abs(x)
    tail = _far_erfc(np.maximum(size, _SERIES_TO))
    far = np.where(x > 0, tail, 2 - tail)
    near = 1 - _near_erf(np.clip(x, -_SERIES_TO, _SERIES_TO))
    return np.where(size < _SERIES_TO, near, np.where(np.isnan(x), x, far))


def _near_erf(x: Array) -> Any:
    """2/sqrt(pi) * exp(-x^2) * sum of x (2 x^2)^n / (1 * 3 * ... * (2n + 1)): all terms of one sign."""
    double_square = 2 * x * x
    term = x.copy()
    total = x.copy()
    for n in range(1, _TERMS):
        term = term * double_square / (2 * n + 1)
        total = total + term
    return 2 / _ROOT_PI * np.exp(-x * x) * total


def _far_erfc(x: Array) -> Any:
    """exp(-x^2) / sqrt(pi) / (x + (1/2)/(x + (2/2)/(x + (3/2)/(x + ...)))) for x of at least ``_SERIES_TO``."""
    finite = np.minimum(x, np.longdouble(200))
    below = finite
    for n in range(_LEVELS, 0, -1):
        below = finite + (np.longdouble(n) / 2) / below
    return np.exp(-finite * finite) / _ROOT_PI / below
