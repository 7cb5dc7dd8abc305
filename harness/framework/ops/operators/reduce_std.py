"""ReduceStd: standard deviation and mean over axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.framework.ops.reduce import keep, kept_shape, normal_axes, reduced
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


@operator
class ReduceStd(Operator):
    """Arguments: tensor, axes, unbiased (divide by one less than the count), keep_dims. Gives deviation and mean."""

    name = "ReduceStd"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        x = call.tensor(0)
        axes = normal_axes(call, call.values[1], len(x.shape))
        out = TensorSpec(x.dtype, reduced(x.shape, axes, bool(call.values[3])))
        return TupleSpec((out, out))

    def kernel(self, call: Call, x: Array, axes: Any, unbiased: bool, kept: bool) -> tuple[Array, Array]:
        over = normal_axes(call, axes, x.ndim)
        wide = numerics.wide(x)
        mean = numerics.mean(wide, over, True, x)
        count = prod(x.shape[a] for a in over)
        square = numerics.held(numerics.total((wide - mean) ** 2, over, True), x) / (count - 1 if unbiased else count)
        shape = reduced(x.shape, over, kept)
        return np.sqrt(square).reshape(shape), mean.reshape(shape)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, axes, unbiased, kept = b.inputs
        count = prod(x.shape) // max(1, prod(kept_shape(x, axes))) if x.shape else 1
        std, mean = (keep(v, x, axes, kept) for v in b.out)
        dstd, dmean = (keep(v, x, axes, kept) for v in b.dout)
        slope = emit("Div", emit("Mul", emit("Sub", x, mean), dstd), std)
        divisor = Tensor(np.array([count - 1 if unbiased else count]), x.dtype)
        first = emit("Div", slope, divisor)
        return emit("Add", first, emit("Div", dmean, Tensor(np.array([count]), x.dtype))), None, None, None
