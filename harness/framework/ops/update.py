"""Shared parts of operators that update parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator
from harness.framework.ops.rounding import finish_into
from harness.graph import Spec

#: elements updated together
_PART = 1 << 15


class Update(Operator):
    """Changes the parameters at ``mutates`` in place, from the gradient at ``gradient_at``."""

    functional = False
    side_effect = "memory"
    gradient_at: int

    def check(self, call: Call) -> None:
        """Raises ``ShapeError`` unless every updated tensor has the gradient's shape."""
        wanted = call.shape(self.gradient_at)
        for at in self.mutates:
            if call.shape(at) != wanted:
                raise call.fail(f"argument {at} must have the gradient's shape {list(wanted)}")

    def infer(self, call: Call) -> Spec:
        self.check(call)
        return call.tensor(0).tensor

    def gradient(self, b: Backward) -> Sequence[Any]:
        return [None] * len(b.inputs)


def moved_square(square: Array, rate: Array, gradient: Array) -> Array:
    """``square`` moved by ``1 - rate`` toward the square of ``gradient``; float64.

    What float32 cannot hold is infinite, and NaN a step later: the kernels add a difference (MindSpore 2.10.0 CPU,
    measured).
    """
    moved: Array = numerics.wide(square) * rate + numerics.held(gradient * gradient, square) * (1 - rate)
    beyond = np.isinf(square)
    return np.where(beyond, np.nan, moved) if beyond.any() else moved


def store(target: Array, value: Array) -> Array:
    """Rounds ``value`` once into ``target``; returns the stored values in the wide dtype."""
    finish_into(target, value)
    return numerics.wide(target)


def in_parts(*arrays: Array) -> Iterator[tuple[Array, ...]]:
    """Views of arrays (some are numbers, the others have one shape) that fit into a cache, to update one after the
    other; the arrays themselves if they have no common order in memory."""
    large = [a for a in arrays if a.size > 1]
    if not all(a.flags.c_contiguous and a.shape == large[0].shape for a in large):
        yield arrays
        return
    for at in range(0, large[0].size if large else 1, _PART):
        yield tuple(a.reshape(-1)[at : at + _PART] if a.size > 1 else a for a in arrays)
