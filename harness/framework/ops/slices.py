"""Cuts numbers so that products and sums of the parts lose nothing, or the loss is known."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

#: half a unit in the last place of float64, relative
UNIT = 2.0**-53
#: for the rounding of bounds themselves
SLACK = 1.01


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """``a + b``, and its rounding error (Knuth)."""
    both = a + b
    back = both - a
    rest = both - back
    np.subtract(a, rest, out=rest)
    np.subtract(b, back, out=back)
    rest += back
    return both, rest


def slices(x: Array, axis: int, bits: int, depth: int) -> tuple[list[Array], list[Array]]:
    """``depth`` slices of ``x``, ``bits`` bits of each below the largest exponent along ``axis``; and what is left
    before each slice and after the last."""
    power = np.frexp(np.abs(x).max(axis=axis, keepdims=True, initial=0))[1]
    parts, left = [], [x]
    for _ in range(depth):
        power = power - bits
        large = np.ldexp(1.5, power + 52)  # adding it rounds to a multiple of 2 ** power
        part = (left[-1] + large) - large
        parts.append(part)
        left.append(left[-1] - part)
    return parts, left


def joined(total: Array, low: Array, bound: Array) -> tuple[Array, Array, Array]:
    """``total + low`` as the nearest float64 and a correction; what ``rest - bound`` rounds is in the bound."""
    near, rest = two_sum(total, low)
    return near, rest, np.where(bound > 0, bound * SLACK + np.abs(rest) * (4 * UNIT), 0)
