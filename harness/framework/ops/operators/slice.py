"""Slice: a box of a tensor, and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import int_tensor, ints
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class Slice(Operator):
    """The box of ``x`` from corner argument 1, of size argument 2 (-1: to the end)."""

    name = "Slice"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        x, begin, size = call.tensor(0), ints(call, 1), ints(call, 2)
        if len(begin) != len(x.shape) or len(size) != len(x.shape):
            raise call.fail(f"begin {list(begin)} and size {list(size)} must have one number for each axis")
        out = []
        for n, first, length in zip(x.shape, begin, size, strict=True):
            length = n - first if length == -1 and n != -1 else length
            if n != -1 and not (first >= 0 and length >= 0 and first + length <= n):
                raise call.fail(f"begin {list(begin)} and size {list(size)} leave the tensor")
            out.append(length)
        return TensorSpec(x.dtype, tuple(out))

    def kernel(self, call: Call, x: Array, begin: tuple[int, ...], size: tuple[int, ...]) -> Array:
        return x[tuple(slice(b, None if n == -1 else b + n) for b, n in zip(begin, size, strict=True))]

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, begin, size = b.inputs
        size = tuple(n - first if s == -1 else s for n, first, s in zip(x.shape, begin, size, strict=True))
        attrs: dict[str, Any] = {"output_names": ("output",), "input_names": ("dy", "x", "begin", "size")}
        return emit("SliceGrad", b.dout, x, int_tensor(begin), int_tensor(size), **attrs), None, None


@operator
class SliceGrad(Operator):
    """Zeros like argument 1, with argument 0 put into the box at argument 2."""

    name = "SliceGrad"
    functional = False

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(0), call.shape(1))

    def kernel(self, call: Call, dout: Array, x: Array, begin: Array, size: Array) -> Array:
        out = np.zeros(x.shape, dout.dtype)
        out[tuple(slice(int(b), int(b) + n) for b, n in zip(begin, dout.shape, strict=True))] = dout
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        begin, size = b.inputs[2:]
        return emit("Slice", b.dout, constant(begin), constant(size)), None, None, None


def constant(tensor: Any) -> tuple[int, ...]:
    """The integers of a tensor constant, traced or not."""
    value = getattr(getattr(tensor, "operand", None), "value", None)
    return tuple(int(v) for v in (tensor.asnumpy() if value is None else value).reshape(-1))
