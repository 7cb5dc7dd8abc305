"""UniformCandidateSampler and LogUniformCandidateSampler: classes drawn as negative examples. The stream of the second
is our own (``ops.random``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeVar

import numpy as np

from harness import dtypes
from harness.errors import DtypeError, SettingError
from harness.framework.ops import random
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.graph import Spec, TensorSpec, TupleSpec

T = TypeVar("T")


class _Sampler(Operator):
    """True classes (n, ``num_true``): ``num_sampled`` classes below ``range_max``, and how often each of the true and
    of the drawn ones is expected (Float32). Attribute ``unique``: no class twice."""

    functional = False
    tensors = (0,)
    kinds: ClassVar[tuple[dtypes.DType, ...]] = (dtypes.int64,)

    def infer(self, call: Call) -> Spec:
        shape, attrs = call.shape(0), call.attrs
        if call.dtype(0) not in self.kinds:
            raise DtypeError(
                f"{self.name} takes true classes of {', '.join(map(str, self.kinds))}, got {call.dtype(0)}"
            )
        if len(shape) != 2 or shape[1] != attrs["num_true"]:
            raise call.fail(f"true classes (n, {attrs['num_true']}) are needed")
        if attrs["unique"] and attrs["num_sampled"] > attrs["range_max"]:
            raise SettingError(
                f"{self.name}: {attrs['num_sampled']} different classes of {attrs['range_max']} are asked for"
            )
        drawn = (attrs["num_sampled"],)
        counts = (TensorSpec(dtypes.float32, shape), TensorSpec(dtypes.float32, drawn))
        return TupleSpec((TensorSpec(call.dtype(0), drawn), *counts))

    def chance(self, classes: Array, count: int) -> Array:
        """How likely each class is at one draw."""
        raise NotImplementedError

    def kernel(self, call: Call, true: Array) -> tuple[Array, Array, Array]:
        attrs = call.attrs
        count, wanted = int(attrs["range_max"]), int(attrs["num_sampled"])
        removes = attrs["unique"] and attrs.get("remove_accidental_hits")
        accidents = set(true.reshape(-1).tolist()) if removes else set()

        def draw(one: Callable[[], int]) -> tuple[list[int], int]:
            found: list[int] = []
            tries = 0
            while len(found) < wanted:
                each = one()
                tries += 1
                if not ((attrs["unique"] and each in found) or each in accidents):
                    found.append(each)
            return found, tries

        found, tries = self.draw(call, count, draw)
        drawn = np.array(found, np.int64)
        counts = [self._expected(self.chance(each, count), tries, wanted) for each in (true, drawn)]
        return drawn, counts[0], counts[1]

    def draw(self, call: Call, count: int, draw: Callable[[Callable[[], int]], T]) -> T:
        """What ``draw`` makes of a function that draws one class below ``count``."""
        sums, seeds = np.cumsum(self.chance(np.arange(count), count)), (int(call.attrs["seed"]), 0)
        return draw(lambda: int(np.searchsorted(sums, random.uniform(call, seeds, 1)[0] * sums[-1], "right")))

    @staticmethod
    def _expected(chance: Array, tries: int, wanted: int) -> Array:
        """How often classes are expected; of different ones ``tries`` were needed."""
        return np.asarray(chance * wanted if tries == wanted else -np.expm1(tries * np.log1p(-chance)))


@operator
class UniformCandidateSampler(_Sampler):
    """All classes alike. Attribute ``remove_accidental_hits``: none of the true ones, if all are to be different."""

    name = "UniformCandidateSampler"
    kinds = (dtypes.int32, dtypes.int64)

    def chance(self, classes: Array, count: int) -> Array:
        return np.full(classes.shape, 1 / count)

    def draw(self, call: Call, count: int, draw: Callable[[Callable[[], int]], T]) -> T:
        seed = random.scrambled(int(call.attrs["seed"]), 0)
        return random.drawn(
            call, random.Minstd, seed, lambda engine: draw(lambda: int(random.below(engine, count, 1)[0]))
        )


@operator
class LogUniformCandidateSampler(_Sampler):
    """The smaller, the likelier: log((c + 2) / (c + 1)) / log(range_max + 1)."""

    name = "LogUniformCandidateSampler"

    def chance(self, classes: Array, count: int) -> Array:
        return np.asarray(np.log((classes + 2.0) / (classes + 1.0)) / np.log(count + 1.0))
