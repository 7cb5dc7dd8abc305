"""TensorScatterMul, TensorScatterDiv, TensorScatterMax and TensorScatterMin: a copy of a tensor with slices changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, operator
from harness.framework.ops.elementwise import is_wide
from harness.framework.ops.operators.scatter_along import Changed
from harness.framework.tensor import call as emit

_NAMES: dict[str, Any] = {"output_names": ("y",), "input_names": ("input_x", "indices", "updates")}


def _quotient(old: Array, new: Array) -> Array:
    return numerics.divide(old, new) if is_wide(old) else numerics.divide_toward_zero(old, new)


@operator
class TensorScatterMul(Changed):
    """Slices multiplied."""

    name = "TensorScatterMul"
    change = staticmethod(np.multiply)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, indices, updates = b.inputs
        dx = emit(self.name, b.dout, indices, updates, **_NAMES) if b.needs[0] else None
        if not b.needs[2]:
            return dx, None, None
        return dx, None, emit("Mul", emit("GatherNd", x, indices), emit("GatherNd", b.dout, indices))


@operator
class TensorScatterDiv(Changed):
    """Slices divided."""

    name = "TensorScatterDiv"
    change = staticmethod(_quotient)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, indices, updates = b.inputs
        dx = emit(self.name, b.dout, indices, updates, **_NAMES) if b.needs[0] else None
        if not b.needs[2]:
            return dx, None, None
        slope = emit("Div", emit("GatherNd", x, indices), emit("Neg", emit("Mul", updates, updates)))
        return dx, None, emit("Mul", emit("GatherNd", b.dout, indices), slope)


class _Extreme(Changed):
    """The gradient goes to all that gave the extreme, in equal shares."""

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, indices, updates = b.inputs
        mine = emit("Cast", emit("Equal", x, b.out), dtypes.int32)
        chosen = emit("Cast", emit("Equal", updates, emit("GatherNd", b.out, indices)), dtypes.int32)
        count = emit("Add", mine, emit("ScatterNd", indices, chosen, tuple(x.shape)))
        shares = emit("Cast", count, x.dtype)
        dx = emit("RealDiv", emit("Mul", b.dout, emit("Cast", mine, x.dtype)), shares) if b.needs[0] else None
        if not b.needs[2]:
            return dx, None, None
        taken = emit("GatherNd", emit("RealDiv", b.dout, shares), indices)
        return dx, None, emit("Mul", taken, emit("Cast", chosen, x.dtype))


@operator
class TensorScatterMax(_Extreme):
    """The larger of old and new."""

    name = "TensorScatterMax"
    change = staticmethod(np.maximum)


@operator
class TensorScatterMin(_Extreme):
    """The smaller of old and new."""

    name = "TensorScatterMin"
    change = staticmethod(np.minimum)
