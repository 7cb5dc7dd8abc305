"""LayerNorm over the last axes, and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import KernelError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.normalized import Normalized
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


@operator
class LayerNorm(Operator):
    """x, gamma, beta, first normalised axis, first parameter axis, epsilon: the result, mean and variance.

    Mean and variance are float32, whatever x is (measured), with length 1 on the normalised axes.
    """

    name = "LayerNorm"
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        x, (norm,), (params,) = call.tensor(0), ints(call, 3), ints(call, 4)
        rank = len(x.shape)
        if not (-rank <= norm < rank and -rank <= params < rank):
            raise KernelError(f"LayerNorm: the first axes {norm} and {params} must lie in {-rank}..{rank - 1}")
        if call.shape(1) != x.shape[params % rank :] or call.shape(2) != call.shape(1):
            raise call.fail(f"gamma and beta must have the shape {list(x.shape[params % rank :])}")
        at = norm % rank
        small = TensorSpec(dtypes.float32, (*x.shape[:at], *[1] * (rank - at)))
        return TupleSpec((x.tensor, small, small))

    def kernel(
        self, call: Call, x: Array, gamma: Array, beta: Array, norm: int, _params: int, epsilon: float
    ) -> tuple[Array, Array, Array]:
        wide = numerics.wide(x)
        axes = tuple(range(norm % x.ndim, x.ndim))
        mean = numerics.mean(wide, axes, keepdims=True)
        variance = numerics.held(numerics.mean((wide - mean) ** 2, axes, keepdims=True), x)
        if not np.all(variance + epsilon):
            raise KernelError("LayerNorm: the variance and epsilon are both 0")
        out = (wide - mean) / np.sqrt(variance + epsilon) * numerics.wide(gamma) + numerics.wide(beta)
        return out, mean, variance

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, gamma, _beta, norm, params, epsilon = b.inputs
        _out, mean, variance = b.out
        grads = emit("LayerNormGrad", x, b.dout[0], variance, mean, gamma, norm, params, epsilon=epsilon)
        return *grads, None, None, None


@operator
class LayerNormGrad(Operator):
    """x, dout, variance, mean, gamma, first normalised axis, first parameter axis: dx, dgamma, dbeta."""

    name = "LayerNormGrad"
    tensors = (0, 1, 2, 3, 4)

    def infer(self, call: Call) -> Spec:
        gamma = call.tensor(4).tensor
        return TupleSpec((call.tensor(0).tensor, gamma, gamma))

    def kernel(
        self, call: Call, x: Array, dout: Array, variance: Array, mean: Array, gamma: Array, norm: int, params: int
    ) -> tuple[Array, Array, Array]:
        axes = tuple(range(norm % x.ndim, x.ndim))
        lead = tuple(range(params % x.ndim))
        count = prod(x.shape[a] for a in axes)
        scale = 1 / np.sqrt(numerics.wide(variance) + call.attrs.get("epsilon", 1e-7))
        centred, slope = numerics.wide(x) - numerics.wide(mean), numerics.wide(dout)
        unit = centred * scale
        weighted = slope * numerics.wide(gamma)
        first = numerics.total(weighted, axes, keepdims=True) / count
        second = numerics.total(weighted * unit, axes, keepdims=True) / count
        dx = (weighted - first - unit * second) * scale
        return dx, numerics.total(slope * unit, lead), numerics.total(slope, lead)

    def gradient(self, b: Backward) -> Sequence[Any]:
        *tensors, norm, params = b.inputs
        dx, ddout, dgamma = emit("LayerNormGradGrad", *tensors, *b.dout, norm, params)
        return dx, ddout, None, None, dgamma


@operator
class LayerNormGradGrad(Operator):
    """The arguments of LayerNormGrad, after gamma the gradients of its results: the gradients of x, dout and gamma.

    The kernel has no epsilon: it takes the variance as it is, whatever LayerNorm added to it (measured).
    """

    name = "LayerNormGradGrad"
    tensors = (0, 1, 2, 3, 4, 5, 6, 7)

    def infer(self, call: Call) -> Spec:
        return TupleSpec(tuple(call.tensor(i).tensor for i in (0, 1, 4)))

    def kernel(self, call: Call, x: Array, *rest: Any) -> tuple[Array, Array, Array]:
        slope, variance, mean, gamma, of_dx, of_dgamma, of_dbeta = map(numerics.wide, rest[:7])
        norm, params = rest[7:]
        axes, lead = tuple(range(norm % x.ndim, x.ndim)), tuple(range(params % x.ndim))
        with np.errstate(divide="ignore", invalid="ignore"):  # rows of one value give no number (measured)
            normal = Normalized(x, mean, 1 / np.sqrt(variance), axes)
            free = normal.free(of_dx) * normal.scale
            dx = normal.bent(slope * gamma, of_dx) + normal.free(slope * of_dgamma) * normal.scale
            ddout = free * gamma + of_dgamma * normal.unit + of_dbeta
        return dx, ddout, numerics.total(slope * free, lead)
