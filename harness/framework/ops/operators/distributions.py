"""RandomGamma, RandomPoisson and RandomCategorical, whose stream is our own (``ops.random``), and StandardLaplace."""

from __future__ import annotations

from math import prod

import numpy as np

from harness import dtypes
from harness.errors import DtypeError, SettingError
from harness.framework.ops import numerics, random
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.elementwise import check_kind
from harness.graph import Spec, TensorSpec

#: a Poisson number of a larger mean is a sum of ones of at most this mean
_LARGEST = 256
#: the float32 next to -1, without its sign
_ABOVE = np.float32(1 - 2.0**-24)


def _seeds(call: Call) -> tuple[int, int]:
    return int(call.attrs.get("seed", 0)), int(call.attrs.get("seed2", 0))


class _Shaped(Operator):
    """A shape (Int32 or Int64 tensor of one axis) and a tensor of parameters: as many numbers for each of them."""

    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        if call.dtype(0) not in (dtypes.int32, dtypes.int64):
            raise DtypeError(f"{self.name}: the shape must be Int32 or Int64, got {call.dtype(0)}")
        if len(call.shape(0)) != 1:
            raise call.fail("the shape must be a tensor of one axis")
        check_kind(call, self.accepts(call), 1)
        if call.values[0] is None:
            return TensorSpec(self.result(call), (-2,))
        shape = ints(call, 0)
        if any(n < 0 for n in shape):
            raise SettingError(f"{self.name}: the shape must have no negative numbers, got {list(shape)}")
        return TensorSpec(self.result(call), (*shape, *call.shape(1)))

    def accepts(self, call: Call) -> str:
        """Kinds of dtype of the parameters."""
        return "f"

    def result(self, call: Call) -> dtypes.DType:
        """Dtype of the numbers."""
        return call.dtype(1)


@operator
class RandomGamma(_Shaped):
    """Of the gamma distribution with the shape parameter argument 1, by Marsaglia's and Tsang's method."""

    name = "RandomGamma"

    def kernel(self, call: Call, shape: Array, alpha: Array) -> Array:
        wanted = np.broadcast_to(numerics.wide(alpha), (*shape.tolist(), *alpha.shape))
        given, seeds = wanted.reshape(-1), _seeds(call)
        small = given < 1
        d = np.where(small, given + 1, given) - 1 / 3
        out, left = np.full(given.shape, np.nan), np.flatnonzero(given > 0)
        while left.size:
            x = random.normal(call, seeds, left.size)
            u = 1 - random.uniform(call, seeds, left.size)
            v = (1 + x / np.sqrt(9 * d[left])) ** 3
            with np.errstate(all="ignore"):
                fits = (v > 0) & (np.log(u) < x * x / 2 + d[left] * (1 - v + np.log(v)))
            out[left[fits]] = (d[left] * v)[fits]
            left = left[~fits]
        with np.errstate(all="ignore"):
            lowered = out * (1 - random.uniform(call, seeds, given.size)) ** (1 / given)
        return np.where(small, lowered, out).reshape(wanted.shape)


@operator
class RandomPoisson(_Shaped):
    """Of the Poisson distribution with the mean argument 1. Attribute ``dtype``."""

    name = "RandomPoisson"

    def accepts(self, call: Call) -> str:
        return "if"

    def result(self, call: Call) -> dtypes.DType:
        found: dtypes.DType = call.attrs["dtype"]
        return found

    def kernel(self, call: Call, shape: Array, rate: Array) -> Array:
        wanted = np.broadcast_to(numerics.wide(rate), (*shape.tolist(), *rate.shape))
        given, seeds = wanted.reshape(-1), _seeds(call)
        whole = np.zeros(given.shape)
        rest = np.where(given > 0, given, 0)
        while (rest > 0).any():
            mean = np.minimum(rest, _LARGEST)
            rest = rest - mean
            drawn = random.uniform(call, seeds, given.size)
            term = np.exp(-mean.astype(np.longdouble))
            reached, count = term.copy(), np.zeros(given.shape)
            for n in range(1, 4 * _LARGEST):
                beyond = drawn >= reached
                if not beyond.any():
                    break
                count += beyond
                term = term * mean / n
                reached = reached + term
            whole += count
        return whole.reshape(wanted.shape)


@operator
class RandomCategorical(Operator):
    """logits (rows, classes), a count, a seed: as many classes a row, drawn with the shares softmax gives. Attribute
    ``dtype``."""

    name = "RandomCategorical"
    functional = False
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        if len(call.shape(0)) != 2:
            raise call.fail("logits (rows, classes) are needed")
        if ints(call, 1)[0] < 1:
            raise call.fail(f"the number of classes to draw must be above 0, got {ints(call, 1)[0]}")
        return TensorSpec(call.attrs["dtype"], (call.shape(0)[0], ints(call, 1)[0]))

    def kernel(self, call: Call, x: Array, count: Array, seed: Array) -> Array:
        logits = numerics.wide(x)
        sums = np.cumsum(np.exp(logits - logits.max(-1, keepdims=True)), axis=-1)
        number = int(np.reshape(count, -1)[0])
        seeds = int(np.reshape(seed, -1)[0]), 0
        drawn = random.uniform(call, seeds, len(x) * number).reshape(len(x), number) * sums[:, -1:]
        found = (drawn[:, :, None] >= sums[:, None, :]).sum(-1)
        return np.asarray(np.minimum(found, x.shape[-1] - 1))


@operator
class StandardLaplace(Operator):
    """The shape (a tensor): Float32 numbers of Laplace's distribution of mean 0 and scale 1."""

    name = "StandardLaplace"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        if call.dtype(0) not in (dtypes.int32, dtypes.int64):
            raise DtypeError(f"StandardLaplace: the shape must be Int32 or Int64, got {call.dtype(0)}")
        shape = ints(call, 0)
        if any(n < 1 for n in shape):
            raise SettingError(f"StandardLaplace: the shape must have positive numbers, got {list(shape)}")
        return TensorSpec(dtypes.float32, shape)

    def kernel(self, call: Call, shape: Array) -> Array:
        count, one = prod(shape.tolist()), np.float32(1)
        seed = random.scrambled(*_seeds(call))
        part = random.drawn(call, random.Minstd, seed, lambda engine: engine.uniform(count))
        drawn = part * (one + _ABOVE) - _ABOVE
        return np.asarray(-np.sign(drawn) * numerics.widest(np.log, one - np.abs(drawn))).reshape(shape)
