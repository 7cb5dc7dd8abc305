"""How far a whole may be from the one rank's, because sums were made in another order.

A module's call cannot be computed again, so noise is measured by size: of a tensor's norm and of its largest element.
What was already apart at the end of the last step is inherited, and grows.
"""

from __future__ import annotations

import numpy as np

from harness.records import Array

#: roundings that a call, or a chain of them, may leave in a tensor's norm; in its largest element
_NORM, _LARGEST = 64.0, 8.0
#: by how much a step may enlarge what its parameters are apart
_GROWTH = 30.0
#: what of an update may differ where an optimizer divides by a gradient that is nearly zero
_UPDATE = 0.02


def distance(found: Array, expected: Array, floor: float = 0.0) -> tuple[float, float]:
    """How far two arrays of one shape are apart: by their norm, and by their largest element, each relative.

    Args:
        found, expected: the arrays.
        floor: what an element counts at least, as it is a part of larger sums.
    """
    a, b = _wide(found), _wide(expected)
    with np.errstate(all="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
        if not apart.size or not apart.any():
            return 0.0, 0.0
        if not np.isfinite(apart).all():
            return np.inf, np.inf
        size = max(float(np.linalg.norm(b.ravel())), floor * np.sqrt(b.size))
        largest = max(float(np.abs(b).max()), floor)
        norm = float(np.linalg.norm(apart.ravel())) / size if size else np.inf
        return norm, float(apart.max()) / largest if largest else np.inf


def eps_of(*arrays: Array) -> float:
    """The coarsest rounding among arrays; 0 if none holds floats."""
    return max((_eps(each) for each in arrays), default=0.0)


def within(found: Array, expected: Array, inherited: float = 0.0, floor: float = 0.0) -> bool:
    """Whether two arrays of one shape agree up to rounding, and what was ``inherited`` (relative, of the norm)."""
    norm, largest = distance(found, expected, floor)
    allowed = _NORM * eps_of(found, expected) + _GROWTH * inherited
    return norm <= allowed and largest <= _LARGEST * allowed


def driven_by_noise(gradient: Array, largest: float) -> Array:
    """The elements of a gradient that are rounding alone beside the ``largest`` of its module: an optimizer that
    divides by their size moves their parameters by chance."""
    found: Array = np.abs(_wide(gradient)) <= _NORM * eps_of(gradient) * largest
    return found


def updated(found: tuple[Array, Array], expected: tuple[Array, Array], inherited: float) -> bool:
    """Whether two updates agree: each a value before and after; rounding and nearly zero gradients are allowed for."""
    (a, b), (c, d) = ((_wide(each) for each in pair) for pair in (found, expected))
    size = float(np.linalg.norm((d - c).ravel()))
    rounding = 4 * eps_of(*found, *expected) * float(np.linalg.norm(d.ravel()))
    apart = float(np.linalg.norm(((b - a) - (d - c)).ravel()))
    return apart <= (_UPDATE + _GROWTH * inherited) * size + rounding


def _wide(array: Array) -> Array:
    return np.asarray(array).astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _eps(array: Array) -> float:
    if array.dtype.kind in "fc":
        return float(np.finfo(array.dtype).eps)
    return 2.0**-7 if array.dtype.kind == "V" or array.dtype.name == "bfloat16" else 0.0
