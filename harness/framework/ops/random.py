"""The stream of random operators: numpy's Philox, whose raw words stay the same in every release.

Two operators with the same seeds draw the same numbers; each run of a node draws from another place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.framework.ops.base import Call

Array = np.ndarray[Any, np.dtype[Any]]


def words(call: Call, seeds: tuple[int, int], count: int) -> Array:
    """``count`` words (uint64) of the stream keyed by ``seeds``, for this run of the node (``call.state`` counts)."""
    run = int(call.state.get("runs", 0))
    call.state["runs"] = run + 1
    key = np.array([s % 2**64 for s in seeds], np.uint64)
    generator = np.random.Philox(key=key, counter=np.array([0, 0, run, 0], np.uint64))
    return np.asarray(generator.random_raw(count), np.uint64)


def uniform(call: Call, seeds: tuple[int, int], count: int) -> Array:
    """``count`` float64 values, uniform in [0, 1) with 53 bits."""
    return (words(call, seeds, count) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def normal(call: Call, seeds: tuple[int, int], count: int) -> Array:
    """``count`` float64 values of the standard normal distribution (Box and Muller)."""
    half = -(-count // 2)
    both = uniform(call, seeds, 2 * half).astype(np.longdouble)
    radius = np.sqrt(-2 * np.log1p(-both[:half]))
    angle = 2 * np.longdouble("3.14159265358979323846264338327950288") * both[half:]
    values = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
    return np.asarray(values[:count], np.float64)
