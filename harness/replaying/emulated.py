"""MindSpore's operators, and how far rounding may move what they give.

For sums of products that is the bound of their terms (see ``compare.noise``). For other operators it is eight times the
change that the harness sees when it moves the inputs by a unit in the last place; operators that only move values have
none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.compare.noise import noise_floor, terms
from harness.dtypes import from_numpy
from harness.framework.runtime.replaying import Emulator
from harness.recording.replayer import Call, Replayed
from harness.replaying.drawing import drawn, floating, in_units, moves_only, spread, unit

Array = np.ndarray[Any, np.dtype[Any]]

#: Operators whose outputs are sums of products of their inputs: applied to magnitudes, they give the size of the
#: summands.
SUMS = frozenset({
    "Add", "AddN", "BatchMatMul", "BiasAdd", "BiasAddGrad", "Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput",
    "Dense", "MatMul", "Mul", "ReduceMean", "ReduceSum", "Sub", "UnsortedSegmentSum",
})  # fmt: skip
#: Operators that take the logarithm of a sum of at least 1: its rounding is an absolute error of the result. Moved
#: inputs do not show it where the harness computes in a wider type.
LOGARITHMS = frozenset({
    "BCEWithLogitsLoss", "CrossEntropyLoss", "LogSoftmax", "Softplus", "SoftplusExt", "SoftmaxCrossEntropyWithLogits",
    "SparseSoftmaxCrossEntropyWithLogits",
})  # fmt: skip
_ROUNDINGS = 4
#: The largest error, in multiples of the spread of the draws.
SPREADS = 8.0


class Emulated(Emulator):
    """The harness's own kernels, and their noise."""

    def noise(self, call: Call) -> tuple[Array, ...] | None:
        """See ``Replayer.noise``."""
        own = self.replay(call)
        if own is None:
            return None
        kind = call.operator.type
        floats = floating(call)
        sizes = self.replay(call.changed({i: np.abs(v) for i, v in floats.items()})) if kind in SUMS else None
        found: list[Array] = []
        moved: list[Replayed] | None = None
        for at, made in enumerate(own.outputs):
            if moves_only(call, made):
                found.append(np.zeros(made.shape))
            elif sizes is not None:
                summands = terms([v.size for v in floats.values() if v.size > 1], made.size)
                floor = 2 * noise_floor(from_numpy(made.dtype).name, summands)
                found.append(_finite(floor * np.abs(sizes.outputs[at].astype(np.float64))))
            else:
                moved = drawn(self, call, in_units(call), numbers=True) if moved is None else moved
                rounded = _ROUNDINGS * unit(made) if kind in LOGARITHMS and made.dtype.kind in "fV" else 0.0
                found.append(SPREADS * spread(made, (each.outputs[at] for each in moved)) + rounded)
        return tuple(found)


def _finite(error: Array) -> Array:
    """An error without NaN: of a sum that has none, nothing is known."""
    return np.nan_to_num(error, nan=0.0, posinf=np.inf)
