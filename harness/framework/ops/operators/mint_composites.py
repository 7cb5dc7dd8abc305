"""Operators of functions of ``mint`` that MindSpore's CPU computes in graphs alone, where they are expanded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.dtypes import DType
from harness.framework.ops.base import Backward, operator
from harness.framework.ops.constants import int_tensor
from harness.framework.ops.eager import number_dtype, promote
from harness.framework.ops.expansion import Composite, cast, scalar
from harness.framework.tensor import call as emit


def as_tensor(number: Any, dtype: DType) -> Any:
    """A number in ``dtype``: a constant of its own dtype, brought to that one by an operator (measured)."""
    return cast(scalar(number, number_dtype(number, [])), dtype)


@operator
class FillScalar(Composite):
    """One value everywhere: shape, number (or tensor without dimensions), dtype (None: that of the value)."""

    name = "FillScalar"

    def expand(self, shape: Any, value: Any, dtype: Any) -> Any:
        if hasattr(value, "asnumpy"):
            filled = cast(value, dtype or value.dtype)
        else:
            filled = scalar(value, dtype or number_dtype(value, []))
        return emit("FillV2", shape, filled, output_names=("y",), input_names=("shape", "value"))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None, None


@operator
class NonZeroExt(Composite):
    """A tensor of places for each axis."""

    name = "NonZeroExt"
    tensors = (0,)

    def expand(self, x: Any) -> Any:
        found = emit("NonZero", x, output_is_dynamic_shape=True)
        attrs: dict[str, Any] = {"output_names": ["y"], "input_names": ["x"], "num": len(x.shape), "axis": 1}
        return emit("Unstack", found, **attrs)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (None,)


@operator
class OneHotExt(Composite):
    """Indices and depth: 1 at each index of a last axis, 0 elsewhere, in the dtype of the indices."""

    name = "OneHotExt"
    tensors = (0,)

    def expand(self, indices: Any, depth: int) -> Any:
        return emit("OneHot", indices, depth, scalar(1, indices.dtype), scalar(0, indices.dtype), -1)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None


@operator
class LogSoftmaxExt(Composite):
    """The logarithm of Softmax along an axis (argument 1), in the dtype of argument 2 unless it is None."""

    name = "LogSoftmaxExt"
    tensors = (0,)

    def expand(self, x: Any, axis: int, dtype: Any) -> Any:
        return emit("LogSoftmax", x if dtype is None else cast(x, dtype), axis)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, axis, _dtype = b.inputs
        return cast(emit("LogSoftmaxGrad", b.out, b.dout, axis), x.dtype), None, None


@operator
class ConstantPadND(Composite):
    """A value (argument 2) around a tensor: pairs of numbers, from the last axis on."""

    name = "ConstantPadND"
    tensors = (0,)

    def expand(self, x: Any, padding: tuple[int, ...], value: Any) -> Any:
        inner = len(x.shape) == len(padding) // 2 + 1  # measured: as many axes as ops.pad needs for the other modes
        wide = emit("ExpandDims", x, 0) if inner else x
        attrs: dict[str, Any] = {"output_names": ("y",), "mode": "constant", "paddings_contiguous": True,
                                 "input_names": ("x", "paddings", "constant_values")}  # fmt: skip
        out = emit("PadV3", wide, int_tensor(list(padding)), as_tensor(value, x.dtype), **attrs)
        return emit("Squeeze", out, (0,)) if inner else out

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("ConstantPadND", b.dout, tuple(-n for n in b.inputs[1]), 0), None, None


@operator
class Baddbmm(Composite):
    """beta * x + alpha * (batch1 @ batch2): x, batch1, batch2, beta, alpha."""

    name = "Baddbmm"
    tensors = (0, 1, 2)

    def expand(self, x: Any, batch1: Any, batch2: Any, beta: Any, alpha: Any) -> Any:
        left = _times(x, beta)
        return emit("Add", left, _times(emit("BatchMatMul", batch1, batch2, False, False), alpha))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, batch1, batch2, beta, alpha = b.inputs
        dx = _summed(_scaled(b.dout, beta), x)
        first = _scaled(emit("BatchMatMul", b.dout, batch2, False, True), alpha)
        second = _scaled(emit("BatchMatMul", batch1, b.dout, True, False), alpha)
        return dx, first, second, None, None


def _summed(gradient: Any, x: Any) -> Any:
    """A gradient of what was broadcast from ``x``: a sum that keeps no axis, then a Reshape (measured)."""
    given, shape = tuple(gradient.shape), tuple(x.shape)
    if given != shape:
        padded = (1,) * (len(given) - len(shape)) + shape
        axes = tuple(at for at, (wide, own) in enumerate(zip(given, padded, strict=True)) if wide != own)
        gradient = emit("Reshape", emit("SumExt", gradient, axes, False, None), shape)
    return cast(gradient, x.dtype)


def _times(x: Any, number: Any) -> Any:
    """A tensor and a number, both brought to one dtype."""
    dtype = promote([x.dtype, number_dtype(number, [])])
    return emit("Mul", cast(x, dtype), as_tensor(number, dtype))


def _scaled(x: Any, number: Any) -> Any:
    return x if number == 1 else emit("Muls", x, number)
