"""Renorm, Histogram and SquareSumAll."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.framework.ops.expansion import scalar
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


@operator
class Renorm(Operator):
    """Slices along attribute ``dim`` whose ``p``-norm exceeds ``maxnorm``, brought down to it."""

    name = "Renorm"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        rank = len(call.shape(0))
        if not -rank <= call.attrs["dim"] < rank:
            raise call.fail(f"a dimension of its own is needed, not {call.attrs['dim']}")
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array) -> Array:
        p, most = call.attrs["p"], call.attrs["maxnorm"]
        others = tuple(a for a in range(x.ndim) if a != call.attrs["dim"] % x.ndim)
        wide = numerics.wide(x).astype(np.longdouble)
        norm = numerics.total(np.abs(wide) ** p, others, True) ** (1 / np.longdouble(p))
        return np.where(norm > most, wide * (most / (norm + np.longdouble(1e-7))), wide)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, dout, p = b.inputs[0], b.dout, int(b.attrs["p"])
        shape = tuple(x.shape)
        others = tuple(a for a in range(len(shape)) if a != b.attrs["dim"] % len(shape))
        names = {"input_names": ("input",), "axis": others, "epsilon": 1e-12, "output_names": ("output",)}
        norm = emit("LpNorm", x, p=p, keep_dims=True, **names)  # type: ignore[arg-type]
        norm = emit("BroadcastTo", norm, shape)
        above = emit("Greater", norm, scalar(b.attrs["maxnorm"], x.dtype))
        inverse = emit("Reciprocal", emit("AddScalar", norm, 1e-7, 1))
        factor = emit("Muls", inverse, b.attrs["maxnorm"])
        products = emit("ReduceSum", emit("Mul", x, dout), others, True, False)
        if p == 1:
            slope = emit("Mul", emit("Sign", x), products)
        elif p == 2:
            slope = emit("Mul", x, emit("RealDiv", products, norm))
        else:
            power = emit("Mul", x, emit("PowTensorScalar", emit("Abs", x), p - 2))
            slope = emit("Mul", power, emit("RealDiv", products, emit("PowTensorScalar", norm, p - 1)))
        if p > 1:
            slope = emit("MaskedFill", slope, emit("Equal", norm, scalar(0.0, x.dtype)), scalar(0.0, x.dtype))
        changed = emit("Mul", factor, emit("Sub", dout, emit("Mul", inverse, slope)))
        return (emit("Select", above, changed, dout),)


@operator
class Histogram(Operator):
    """Attributes ``bins``, ``min`` and ``max`` (both 0: those of the tensor): how many elements lie in each part."""

    name = "Histogram"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "if", 0)
        if call.attrs["bins"] < 1 or call.attrs["min"] > call.attrs["max"]:
            raise call.fail("at least one bin, and min not above max, are needed")
        return TensorSpec(call.dtype(0), (call.attrs["bins"],))

    def kernel(self, call: Call, x: Array) -> Array:
        low, high, bins = float(call.attrs["min"]), float(call.attrs["max"]), int(call.attrs["bins"])
        values = numerics.wide(x).reshape(-1)
        if low == high == 0 and values.size:
            low, high = float(values.min()), float(values.max())
        if low == high:
            low, high = low - 1, high + 1
        inside = values[(values >= low) & (values <= high)]
        places = np.minimum(((inside - low) * bins / (high - low)).astype(np.int64), bins - 1)
        return np.bincount(places, minlength=bins)


@operator
class SquareSumAll(Operator):
    """The sums of the squares of two tensors."""

    name = "SquareSumAll"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0, 1)
        if call.shape(0) != call.shape(1) or call.dtype(0) is not call.dtype(1):
            raise call.fail("two tensors of one shape and dtype are needed")
        out = TensorSpec(call.dtype(0), ())
        return TupleSpec((out, out))

    def kernel(self, call: Call, x: Array, y: Array) -> tuple[Array, Array]:
        first, second = (numerics.total(numerics.wide(v) ** 2) for v in (x, y))
        return first, second

    def gradient(self, b: Backward) -> Sequence[Any]:
        return tuple(emit("Muls", emit("Mul", d, v), 2.0) for d, v in zip(b.dout, b.inputs, strict=True))
