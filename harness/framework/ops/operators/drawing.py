"""UniformInt, RandpermV2 and Multinomial: whole numbers drawn."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import SettingError
from harness.framework.ops import numerics, random
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.elementwise import check_kind
from harness.graph import Spec, TensorSpec


class _Drawing(Operator):
    """Attributes ``seed`` and ``seed2``."""

    functional = False

    def seed(self, call: Call) -> int:
        """What the engine is seeded with."""
        return random.scrambled(int(call.attrs.get("seed", 0)), int(call.attrs.get("seed2", 0)))


@operator
class UniformInt(_Drawing):
    """shape, low, high (0-d Int32): Int32 values in [low, high)."""

    name = "UniformInt"

    def infer(self, call: Call) -> Spec:
        shape = call.values[0]
        if not isinstance(shape, (tuple, list)) or any(not isinstance(n, int) or n < 0 for n in shape):
            raise call.fail(f"the shape must be a tuple of ints from 0 on, got {shape!r}")
        return TensorSpec(dtypes.int32, tuple(shape))

    def kernel(self, call: Call, shape: tuple[int, ...], low: Any, high: Any) -> Array:
        least, width = int(low), int(high) - int(low)
        if width <= 0:
            raise SettingError(f"UniformInt: the least value {least} must be below the end {int(high)}")
        found = random.drawn(
            call, random.Twister, self.seed(call), lambda engine: random.below(engine, width, prod(shape))
        )
        return np.asarray((least + found).astype(np.int32).reshape(shape))


@operator
class RandpermV2(_Drawing):
    """n, and the dtype of the result: the numbers below n in an order that depends on ``seed2`` alone, or on ``seed``
    where that is 0; each run draws the same."""

    name = "RandpermV2"

    def infer(self, call: Call) -> Spec:
        n, dtype = call.values
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise call.fail(f"n must be an int above 0, got {n!r}")
        return TensorSpec(dtype, (n,))

    def kernel(self, call: Call, n: int, _dtype: Any) -> Array:
        return random.shuffled(random.Twister(int(call.attrs["seed2"] or call.attrs["seed"])), n)


@operator
class Multinomial(_Drawing):
    """x ([rows,] classes) of weights, a number: as many classes a row, drawn with their shares of the weights.
    Attribute ``dtype``."""

    name = "Multinomial"
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "iuf", 0)
        shape, (count,) = call.shape(0), ints(call, 1)
        if len(shape) not in (1, 2):
            raise call.fail("the weights must have one or two dimensions")
        return TensorSpec(call.attrs["dtype"], (*shape[:-1], count))

    def kernel(self, call: Call, x: Array, number: Array) -> Array:
        count = int(np.reshape(number, -1)[0])
        if np.any(numerics.wide(x).sum(-1) == 0):
            raise SettingError("Multinomial: one weight of each row must be above 0")
        sums = np.cumsum(numerics.wide(x).reshape(-1, x.shape[-1]), axis=-1)
        shape = len(sums), count
        drawn = random.drawn(call, random.Minstd, self.seed(call), lambda engine: engine.uniform(prod(shape)))
        drawn = drawn.astype(np.float64).reshape(shape) * sums[:, -1:]
        if np.any(numerics.wide(x) < 0):  # sums that do not grow are searched all the same (measured)
            found = np.array(
                [[row.searchsorted(at, "right") for at in each] for row, each in zip(sums, drawn, strict=True)]
            )
        else:
            found = (drawn[:, :, None] >= sums[:, None, :]).sum(-1)
        return np.asarray(np.minimum(found, x.shape[-1] - 1).reshape(*x.shape[:-1], count))
