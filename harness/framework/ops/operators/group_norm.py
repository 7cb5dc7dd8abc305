"""GroupNorm over groups of channels, and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


def _grouped(x: Array, groups: int) -> Array:
    """(n, c, ...) as (n, groups, everything else) in float64."""
    return numerics.wide(x).reshape(x.shape[0], groups, -1)


def _channels(values: Array, x: Array) -> Array:
    return numerics.wide(values).reshape(1, -1, *[1] * (x.ndim - 2))


@operator
class GroupNorm(Operator):
    """x (n, c, ...), number of groups, gamma, beta (c,), epsilon.

    Outputs: the result, mean and reciprocal deviation (n, groups).
    """

    name = "GroupNorm"
    tensors = (0, 2, 3)

    def infer(self, call: Call) -> Spec:
        x, (groups,) = call.tensor(0), ints(call, 1)
        if len(x.shape) < 2 or groups < 1 or x.shape[1] % groups or call.shape(2) != x.shape[1:2]:
            raise call.fail("the channels must divide into the groups, and gamma and beta have one value a channel")
        small = TensorSpec(x.dtype, (x.shape[0], groups))
        return TupleSpec((x.tensor, small, small))

    def kernel(self, call: Call, x: Array, groups: int, gamma: Array, beta: Array, epsilon: float) -> tuple[Array, ...]:
        flat = _grouped(x, groups)
        mean = numerics.mean(flat, 2, keepdims=True)
        scale = 1 / np.sqrt(numerics.mean((flat - mean) ** 2, 2, keepdims=True) + epsilon)
        unit = ((flat - mean) * scale).reshape(x.shape)
        return unit * _channels(gamma, x) + _channels(beta, x), mean[..., 0], scale[..., 0]

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, groups, gamma, _beta, _epsilon = b.inputs
        _out, mean, scale = b.out
        wanted = (True, True, True)
        dx, dgamma, dbeta = emit("GroupNormGrad", b.dout[0], x, mean, scale, gamma, groups, *wanted)
        return dx, None, dgamma, dbeta, None


@operator
class GroupNormGrad(Operator):
    """dout, x, mean, reciprocal deviation, gamma, groups, and which of dx, dgamma, dbeta are wanted."""

    name = "GroupNormGrad"
    tensors = (0, 1, 2, 3, 4)

    def infer(self, call: Call) -> Spec:
        gamma = call.tensor(4).tensor
        return TupleSpec((call.tensor(1).tensor, gamma, gamma))

    def kernel(
        self, call: Call, dout: Array, x: Array, mean: Array, scale: Array, gamma: Array, *rest: Any
    ) -> tuple[Array, ...]:
        groups = int(rest[0])
        flat, slope = _grouped(x, groups), numerics.wide(dout)
        factor = numerics.wide(scale)[..., None]
        unit = (flat - numerics.wide(mean)[..., None]) * factor
        weighted = _grouped(slope * _channels(gamma, x), groups)
        first = numerics.mean(weighted, 2, keepdims=True)
        second = numerics.mean(weighted * unit, 2, keepdims=True)
        dx = ((weighted - first - unit * second) * factor).reshape(x.shape)
        axes = tuple(a for a in range(x.ndim) if a != 1)
        return dx, numerics.total(slope * unit.reshape(x.shape), axes), numerics.total(slope, axes)
