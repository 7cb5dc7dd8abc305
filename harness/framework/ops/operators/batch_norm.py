"""BatchNorm over every axis but the second, and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.normalized import Normalized
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


def _beside(x: Array) -> tuple[int, ...]:
    """All axes but the channels'."""
    return tuple(a for a in range(x.ndim) if a != 1)


def _channels(values: Array, x: Array) -> Array:
    """One value a channel, in float64, ready to broadcast over ``x``."""
    return numerics.wide(values).reshape(-1, *[1] * (x.ndim - 2))


@operator
class BatchNorm(Operator):
    """x (n, c, ...), scale, bias, running mean, running variance, training, epsilon, momentum, format.

    In training the batch's own statistics normalise, and the running ones are moved in place by ``momentum`` toward
    them (the variance as an unbiased one). Outputs: the result; two the CPU kernel leaves unwritten (zeros here); the
    batch's mean and variance (unwritten, so zeros, outside training).
    """

    name = "BatchNorm"
    tensors = (0, 1, 2, 3, 4)
    mutates = (3, 4)
    side_effect = "memory"

    def effect(self, arguments: Sequence[Any]) -> str | None:
        return self.side_effect if arguments[5] else None

    def infer(self, call: Call) -> Spec:
        x = call.tensor(0)
        if len(x.shape) < 2 or any(call.shape(i) != x.shape[1:2] for i in (1, 2, 3, 4)):
            raise call.fail("the input must be (n, c, ...) and the other tensors (c,)")
        small = TensorSpec(dtypes.float32 if x.dtype.itemsize < 4 else x.dtype, x.shape[1:2])
        return TupleSpec((x.tensor, small, small, small, small))

    def kernel(
        self, call: Call, x: Array, scale: Array, bias: Array, mean: Array, variance: Array, *settings: Any
    ) -> tuple[Array, ...]:
        training, epsilon, momentum = settings[:3]
        wide, axes = numerics.wide(x), _beside(x)
        used_mean, used_variance = numerics.wide(mean), numerics.wide(variance)
        if training:
            used_mean = numerics.mean(wide, axes, given=x)
        centred = wide - _channels(used_mean, x)
        if training:
            used_variance = numerics.mean(centred * centred, axes, given=x)
            count = x.size // max(1, x.shape[1])
            unbiased = used_variance * (count / (count - 1) if count > 1 else np.inf)
            for running, new in ((mean, used_mean), (variance, unbiased)):
                moved = (1 - momentum) * numerics.wide(running) + momentum * new
                running[...] = numerics.finish(moved, dtypes.from_numpy(running.dtype))
        out = np.divide(centred, np.sqrt(_channels(used_variance, x) + epsilon), out=centred)
        out *= _channels(scale, x)
        out += _channels(bias, x)
        blank = np.zeros(mean.shape)
        return out, blank, blank, *((used_mean, used_variance) if training else (blank, blank))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, scale, _bias, mean, variance, training, epsilon, _momentum, layout = b.inputs
        used = (b.out[3], b.out[4]) if training else (mean, variance)
        grads = emit("BatchNormGrad", b.dout[0], x, scale, *used, b.out[2], training, epsilon, layout)
        return *grads, *[None] * 6


@operator
class BatchNormGrad(Operator):
    """dout, x, scale, mean, variance, reserve, training, epsilon, format: dx, dscale, dbias."""

    name = "BatchNormGrad"
    tensors = (0, 1, 2, 3, 4, 5)

    def infer(self, call: Call) -> Spec:
        scale = call.tensor(2).tensor
        return TupleSpec((call.tensor(1).tensor, scale, scale))

    def kernel(
        self, call: Call, dout: Array, x: Array, scale: Array, mean: Array, variance: Array, *rest: Any
    ) -> tuple[Array, Array, Array]:
        _reserve, training, epsilon, _layout = rest
        slope, axes = numerics.wide(dout), _beside(x)
        inverse = 1 / np.sqrt(_channels(variance, x) + epsilon)
        unit = numerics.wide(x) - _channels(mean, x)
        unit *= inverse
        dscale, dbias = numerics.total(slope * unit, axes), numerics.total(slope, axes)
        if training:
            part = np.multiply(unit, _channels(dscale, x), out=unit)
            np.add(_channels(dbias, x), part, out=part)
            part /= max(1, x.size // max(1, x.shape[1]))
            dx = np.subtract(slope, part, out=part)
            dx *= inverse
        else:
            dx = slope * inverse
        dx *= _channels(scale, x)
        return dx, dscale, dbias

    def gradient(self, b: Backward) -> Sequence[Any]:
        dout, x, scale, mean, variance, _reserve, *settings = b.inputs
        dx, ddout, dscale = emit("BatchNormGradGrad", x, dout, scale, mean, variance, *b.dout, *settings)
        return ddout, dx, dscale, None, None, None


@operator
class BatchNormGradGrad(Operator):
    """x, dout, scale, mean, variance, gradients of the results of BatchNormGrad, training, epsilon, format: the
    gradients of x, dout and scale. In training the mean and the variance are those of x."""

    name = "BatchNormGradGrad"
    tensors = (0, 1, 2, 3, 4, 5, 6, 7)

    def infer(self, call: Call) -> Spec:
        if not 2 <= len(call.shape(0)) <= 4:
            raise call.fail("x must have 2 to 4 axes")
        return TupleSpec(tuple(call.tensor(i).tensor for i in (0, 1, 2)))

    def kernel(self, call: Call, x: Array, *rest: Any) -> tuple[Array, Array, Array]:
        slope, of_dx = (numerics.wide(rest[i]) for i in (0, 4))
        scale, mean, variance, of_dscale, of_dbias = (_channels(rest[i], x) for i in (1, 2, 3, 5, 6))
        training, epsilon, _layout = rest[7:]
        normal = Normalized(x, mean, 1 / np.sqrt(variance + epsilon), _beside(x))
        dx, free = slope * of_dscale * normal.scale, of_dx * normal.scale
        if training:
            dx = normal.bent(slope * scale, of_dx) + normal.free(slope * of_dscale) * normal.scale
            free = normal.free(of_dx) * normal.scale
        ddout = free * scale + of_dscale * normal.unit + of_dbias
        return dx, ddout, numerics.total(slope * free, _beside(x))
