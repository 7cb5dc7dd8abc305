"""LpNorm: the p-th root of the sum of p-th powers along axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.framework.ops.expansion import scalar
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def _axes(attrs: Any, rank: int) -> tuple[int, ...]:
    return tuple(sorted({a % rank for a in attrs["axis"]})) or tuple(range(rank))


@operator
class LpNorm(Operator):
    """Attributes ``axis``, ``p``, ``keep_dims``, ``epsilon`` (the least it gives)."""

    name = "LpNorm"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        shape = call.shape(0)
        if any(not -len(shape) <= a < len(shape) for a in call.attrs["axis"]):
            raise call.fail(f"the axes {call.attrs['axis']} must lie within the tensor's")
        axes = _axes(call.attrs, len(shape))
        if call.attrs["keep_dims"]:
            return TensorSpec(call.dtype(0), tuple(1 if i in axes else n for i, n in enumerate(shape)))
        return TensorSpec(call.dtype(0), tuple(n for i, n in enumerate(shape) if i not in axes))

    def kernel(self, call: Call, x: Array) -> Array:
        p, values = call.attrs["p"], np.abs(numerics.wide(x))
        total = numerics.total(values**p, _axes(call.attrs, x.ndim), keepdims=call.attrs["keep_dims"])
        total = numerics.held(total, x)
        return np.asarray(np.maximum(total ** (1 / p), call.attrs["epsilon"]))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, p = b.inputs[0], b.attrs["p"]
        dout, norm = b.dout, b.out
        if p == 1 and not b.attrs["keep_dims"]:
            sign = emit("Sign", x)
            for axis in _axes(b.attrs, len(x.shape)):
                dout = emit("ExpandDims", dout, axis)
            return (emit("Mul", dout, sign),)
        if not b.attrs["keep_dims"]:
            for axis in _axes(b.attrs, len(x.shape)):
                dout, norm = emit("ExpandDims", dout, axis), emit("ExpandDims", norm, axis)
        if p == 2:
            return (emit("Mul", x, emit("RealDiv", dout, norm)),)
        power = emit("Mul", emit("PowTensorScalar", emit("Abs", x), p - 2), x)
        nothing = emit("Equal", power, scalar(0, x.dtype))
        share = emit("RealDiv", dout, emit("PowTensorScalar", norm, p - 1))
        zeros = Tensor(np.zeros(x.shape, x.dtype.numpy), x.dtype)
        return (emit("Select", nothing, zeros, emit("Mul", power, share)),)
