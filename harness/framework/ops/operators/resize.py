"""Resizing of (n, c, h, w) by the nearest element or by interpolation, of (n, c, l) by interpolation; and gradients.

Source of the rules of places: MindSpore 2.10.0 CPU, measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import int_tensor, ints
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def scale(given: int, wanted: int, align: bool) -> np.float32:
    """The step in the input for one step of the result (float32, as the kernels count)."""
    if align and wanted > 1:
        return np.float32(given - 1) / np.float32(wanted - 1)
    return np.float32(given) / np.float32(wanted)


def nearest(given: int, wanted: int, align: bool, half: bool, by: np.float32 | None = None) -> Array:
    """The input's place for each place of the result; ``by``: the step, if it is not that of the sizes."""
    at, step = np.arange(wanted, dtype=np.float32), scale(given, wanted, align) if by is None else by
    if half:
        place = np.floor((at + np.float32(0.5)) * step)
    else:
        product = at * step
        place = np.floor(product + np.float32(0.5)) if align else np.floor(product)
    return np.asarray(np.clip(place.astype(np.int64), 0, given - 1))


def weights(given: int, wanted: int, align: bool, half: bool, by: np.float32 | None = None) -> Array:
    """(wanted, given): the share each input place has in each place of the result; ``by``: as for ``nearest``."""
    at, step = np.arange(wanted, dtype=np.float32), scale(given, wanted, align) if by is None else by
    place = (at + np.float32(0.5)) * step - np.float32(0.5) if half else at * step
    floor = np.floor(place)
    low = np.maximum(floor, 0).astype(np.int64)
    high = np.minimum(np.ceil(place), given - 1).astype(np.int64)
    part = (place - floor).astype(np.float64)
    out = np.zeros((wanted, given))
    rows = np.arange(wanted)
    np.add.at(out, (rows, np.minimum(low, given - 1)), 1 - part)
    np.add.at(out, (rows, np.maximum(high, 0)), part)
    return out


def _size(call: Call, rank: int) -> tuple[int, ...]:
    size = ints(call, 1)
    if len(call.shape(0)) != rank + 2 or len(size) != rank or min(size) < 1:
        raise call.fail(f"a tensor of {rank + 2} axes and {rank} sizes above 0 are needed, got {list(size)}")
    return size


@operator
class ResizeNearestNeighbor(Operator):
    """x, size, align corners, half pixel centers: the nearest element for each place of the result."""

    name = "ResizeNearestNeighbor"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(0), (*call.shape(0)[:2], *_size(call, 2)))

    def kernel(self, call: Call, x: Array, _size: Any, align: bool, half: bool) -> Array:
        height, width = call.outputs()[0].shape[2:]
        rows, columns = nearest(x.shape[2], height, align, half), nearest(x.shape[3], width, align, half)
        return np.asarray(x[:, :, rows[:, None], columns])

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, _, align, half = b.inputs
        return (emit("ResizeNearestNeighborGrad", b.dout, int_tensor(tuple(x.shape)[2:]), align, half),)


@operator
class ResizeNearestNeighborV2(ResizeNearestNeighbor):
    """The same as later releases have it."""

    name = "ResizeNearestNeighborV2"

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, _, align, half = b.inputs
        return (emit("ResizeNearestNeighborV2Grad", b.dout, tuple(x.shape)[2:], align, half),)


@operator
class ResizeNearestNeighborGrad(Operator):
    """dout, size of the input, align corners, half pixel centers: each element added where it came from."""

    name = "ResizeNearestNeighborGrad"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(0), (*call.shape(0)[:2], *_size(call, 2)))

    def kernel(self, call: Call, dout: Array, _size: Any, align: bool, half: bool) -> Array:
        out = np.zeros(call.outputs()[0].shape)
        rows = nearest(out.shape[2], dout.shape[2], align, half)
        columns = nearest(out.shape[3], dout.shape[3], align, half)
        index: Any = (..., rows[:, None], columns)
        np.add.at(out, index, numerics.wide(dout))
        return out


@operator
class ResizeNearestNeighborV2Grad(ResizeNearestNeighborGrad):
    """The same as later releases have it."""

    name = "ResizeNearestNeighborV2Grad"


@operator
class ResizeBilinearV2(Operator):
    """x, size, align corners, half pixel centers: the mean of the four nearest elements, by distance."""

    name = "ResizeBilinearV2"
    tensors = (0,)
    unread = frozenset({1})

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(0), (*call.shape(0)[:2], *_size(call, 2)))

    def kernel(self, call: Call, x: Array, _size: Any, align: bool, half: bool) -> Array:
        height, width = call.outputs()[0].shape[2:]
        rows, columns = weights(x.shape[2], height, align, half), weights(x.shape[3], width, align, half)
        return numerics.matmul(numerics.matmul(rows[None, None], numerics.wide(x)), columns.T[None, None])

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, _, align, half = b.inputs
        return (emit("ResizeBilinearGrad", b.dout, x, align, half),)


@operator
class ResizeBilinearGrad(Operator):
    """dout, x, align corners, half pixel centers."""

    name = "ResizeBilinearGrad"
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(0), call.shape(1))

    def kernel(self, call: Call, dout: Array, x: Array, align: bool, half: bool) -> Array:
        rows = weights(x.shape[2], dout.shape[2], align, half)
        columns = weights(x.shape[3], dout.shape[3], align, half)
        return numerics.matmul(numerics.matmul(rows.T[None, None], numerics.wide(dout)), columns[None, None])


#: numbers of ``coordinate_transformation_mode``, as the nodes show them
ALIGN, HALF = 1, 2


@operator
class ResizeLinear1D(Operator):
    """x (n, c, l), size, mode of places (1 align corners, else half pixel centers)."""

    name = "ResizeLinear1D"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(0), (*call.shape(0)[:2], *_size(call, 1)))

    def kernel(self, call: Call, x: Array, _size: Any, mode: int) -> Array:
        shares = weights(x.shape[2], call.outputs()[0].shape[2], mode == ALIGN, mode != ALIGN)
        return numerics.matmul(numerics.wide(x), shares.T[None])

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, _, mode = b.inputs
        return (emit("ResizeLinear1DGrad", b.dout, x, mode),)


@operator
class ResizeLinear1DGrad(Operator):
    """dout, x, mode of places."""

    name = "ResizeLinear1DGrad"
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(0), call.shape(1))

    def kernel(self, call: Call, dout: Array, x: Array, mode: int) -> Array:
        shares = weights(x.shape[2], dout.shape[2], mode == ALIGN, mode != ALIGN)
        return numerics.matmul(numerics.wide(dout), shares[None])
