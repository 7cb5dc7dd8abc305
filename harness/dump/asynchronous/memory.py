"""Keeps arrays until they are written, copied if their memory may change by then."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def owner(array: Array) -> Array:
    """The array that owns the memory of ``array``, through any number of views."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def keep(array: Array, stable: bool) -> Array:
    """``array``, or a copy if it is not ``stable``, or if it would keep more than twice its own bytes alive."""
    return array.copy(order="C") if _needs_copy(array, stable) else array


def kept_bytes(array: Array, stable: bool) -> int:
    """Number of bytes that the result of ``keep`` keeps alive."""
    return array.nbytes if _needs_copy(array, stable) else owner(array).nbytes


def _needs_copy(array: Array, stable: bool) -> bool:
    return not stable or owner(array).nbytes > 2 * array.nbytes
