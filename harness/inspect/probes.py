"""What is taken from values while they are read, so that no rule has to read a tensor again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness.inspect.roles import FORWARD
from harness.records import Record

Array = np.ndarray[Any, np.dtype[Any]]
Facts = dict[str, Any]


def unit_axis(shape: tuple[int, ...]) -> int:
    """The axis of units: channels of images are axis 1, features are the last."""
    return 1 if len(shape) >= 4 else len(shape) - 1


def over_units(array: Array, reduce: Callable[..., Any]) -> Array:
    """``reduce`` over all axes but that of units."""
    axis = unit_axis(array.shape)
    return np.asarray(reduce(array, axis=tuple(at for at in range(array.ndim) if at != axis)))


def _relu(array: Array) -> Facts:
    if array.ndim < 2:
        return {}
    return {
        "alive": over_units(array != 0, np.any),
        "samples": array.size // max(1, array.shape[unit_axis(array.shape)]),
    }


def _bounded(array: Array, low: float, high: float) -> Facts:
    """Share of elements, and the units all of whose elements, lie where the slope is under a hundredth of its peak."""
    if array.ndim < 2:
        return {}
    wide = array.astype(np.float64)
    scaled = (wide - low) / (high - low)
    flat = scaled * (1 - scaled) * 4 < 0.01
    return {"flat": float(flat.mean()) if flat.size else 0.0, "stuck": over_units(flat, np.all)}


def _softmax(array: Array) -> Facts:
    wide = array.astype(np.float64)
    with np.errstate(all="ignore"):
        room = 4e-2 if array.dtype.itemsize < 4 else 1e-3
        sums = [bool(np.allclose(wide.sum(axis=at), 1, rtol=0, atol=room)) for at in range(array.ndim)]
    return {"sums": tuple(sums)}


def _small(array: Array) -> Facts:
    """Share of float16's elements that are below its normal numbers, and not zero."""
    size = np.abs(array)
    below = np.count_nonzero((size > 0) & (size < 2.0**-14))
    return {"subnormal": below / array.size if array.size else 0.0}


def probe(family: str, phase: str, record: Record, array: Array) -> Facts:
    """The facts of one slot.

    Args:
        family, phase: of its operator, see ``roles``.
        record: the slot.
        array: its values.
    """
    facts: Facts = {}
    out = record.key.io == "output"
    if array.dtype == np.float16 and out and array.size:
        facts.update(_small(array))
    if out and phase == FORWARD and record.key.slot == 0 and array.size:
        if family == "relu":
            facts.update(_relu(array))
        elif family == "sigmoid":
            facts.update(_bounded(array, 0.0, 1.0))
        elif family == "tanh":
            facts.update(_bounded(array, -1.0, 1.0))
        elif family == "softmax":
            facts.update(_softmax(array))
    return facts
