"""Bernoulli: ones drawn with a probability; RandomShuffle: the rows of a tensor in a drawn order."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from harness.errors import DtypeError
from harness.framework.ops import philox, random
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.graph import Spec


@operator
class Bernoulli(Operator):
    """x, and the probability (1,) or of each element: 0 and 1 in the dtype of x. Each run draws the same, 23 bits of
    a word of Philox for an element, keyed by the attribute ``seed``."""

    name = "Bernoulli"
    functional = False
    tensors = (0, 1)
    random: ClassVar[bool] = True

    def infer(self, call: Call) -> Spec:
        if call.dtype(0).name in ("Float16", "BFloat16") or call.dtype(0).kind == "c":
            raise DtypeError(f"Bernoulli does not take {call.dtype(0)} tensors")
        if call.dtype(1).name not in ("Float32", "Float64"):
            raise DtypeError(f"Bernoulli: the probability must be Float32 or Float64, got {call.dtype(1)}")
        if call.shape(1) not in ((), (1,), call.shape(0)):
            raise call.fail("a probability, or one for each element, is needed")
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, p: Array) -> Array:
        if not ((p >= 0) & (p <= 1)).all():
            raise ValueError("probabilities must be in [0, 1]")
        words = philox.words(int(call.attrs["seed"]) % 2**64, 0, x.size).reshape(x.shape)
        return np.asarray((words & np.uint32(0x7FFFFF)) * 2.0**-23 < p).astype(x.dtype)


@operator
class RandomShuffle(Operator):
    """x (n, ...): its rows in a drawn order."""

    name = "RandomShuffle"
    functional = False
    tensors = (0,)
    random: ClassVar[bool] = True

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array) -> Array:
        if not x.ndim:
            return x
        seed = random.scrambled(int(call.attrs["seed"]), int(call.attrs["seed2"]))
        return x[random.drawn(call, random.Minstd, seed, lambda engine: random.shuffled(engine, len(x)))]
