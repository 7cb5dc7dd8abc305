"""StandardNormal and UniformReal: random tensors."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

from harness import dtypes
from harness.framework.ops import random
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.graph import Spec, TensorSpec


class _Random(Operator):
    """Argument 0: the shape; attributes ``seed``, ``seed2`` and ``dtype``."""

    functional = False
    random: ClassVar[bool] = True

    def infer(self, call: Call) -> Spec:
        shape = call.values[0]
        if not isinstance(shape, (tuple, list)) or any(not isinstance(n, int) or n < 0 for n in shape):
            raise call.fail(f"the shape must be a tuple of ints from 0 on, got {shape!r}")
        return TensorSpec(dtypes.float32, tuple(shape))

    def draw(self, call: Call, seed: int, count: int) -> Array:
        """``count`` values."""
        raise NotImplementedError

    def kernel(self, call: Call, shape: tuple[int, ...]) -> Array:
        seed = random.scrambled(int(call.attrs.get("seed", 0)), int(call.attrs.get("seed2", 0)))
        return self.draw(call, seed, prod(shape)).reshape(shape)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (None,)


@operator
class StandardNormal(_Random):
    """Normal with mean 0 and variance 1."""

    name = "StandardNormal"

    def draw(self, call: Call, seed: int, count: int) -> Array:
        return random.drawn(call, random.Minstd, seed, lambda engine: engine.normal(count))


@operator
class UniformReal(_Random):
    """Uniform in [0, 1)."""

    name = "UniformReal"

    def draw(self, call: Call, seed: int, count: int) -> Array:
        return random.drawn(call, random.Twister, seed, lambda engine: engine.uniform(count))
