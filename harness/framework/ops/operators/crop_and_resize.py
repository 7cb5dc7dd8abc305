"""CropAndResize: parts of images brought to one size, and the gradient of the images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import UnsupportedError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.elementwise import check_kind
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def _places(low: float, high: float, size: int, count: int) -> Array:
    """Where ``count`` points of a side lie in an image of ``size``; the box goes from ``low`` to ``high``, of 1."""
    if count == 1:
        return np.array([0.5 * (low + high) * (size - 1)])
    return low * (size - 1) + np.arange(count) * ((high - low) * (size - 1) / (count - 1))


def _weights(places: Array, size: int, method: str) -> Array:
    """What each point (rows) takes of each line of the image (columns); nothing where it lies outside."""
    inside = (places >= 0) & (places <= size - 1)
    out = np.zeros((len(places), size))
    rows = np.flatnonzero(inside)
    if method == "nearest":
        out[rows, np.floor(places[rows] + 0.5).astype(int)] = 1
        return out
    below = np.floor(places[rows]).astype(int)
    share = places[rows] - below
    np.add.at(out, (rows, below), 1 - share)
    np.add.at(out, (rows, np.minimum(below + 1, size - 1)), share)
    return out


def _sides(call: Call, boxes: Array, at: int, size: tuple[int, ...], count: tuple[int, ...]) -> tuple[Array, Array]:
    y1, x1, y2, x2 = numerics.wide(boxes[at])
    method = call.attrs["method"]
    return (
        _weights(_places(y1, y2, size[0], count[0]), size[0], method),
        _weights(_places(x1, x2, size[1], count[1]), size[1], method),
    )


@operator
class CropAndResize(Operator):
    """images (n, h, w, c), boxes (m, 4) as (y1, x1, y2, x2) from 0 to 1, the image of each (m,), (crop_h, crop_w):
    Float32 (m, crop_h, crop_w, c). Attributes ``method`` (bilinear, nearest) and ``extrapolation_value``, for outside.
    """

    name = "CropAndResize"
    functional = False
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "iuf", 0)
        images, boxes, size = call.shape(0), call.shape(1), ints(call, 3)
        if len(images) != 4 or len(boxes) != 2 or boxes[1] != 4 or call.shape(2) != boxes[:1] or len(size) != 2:
            raise call.fail("images (n, h, w, c), boxes (m, 4), an image for each, and a size of two are needed")
        if call.attrs["method"] not in ("bilinear", "nearest"):
            raise UnsupportedError(f"CropAndResize: method {call.attrs['method']!r} is not supported")
        return TensorSpec(dtypes.float32, (boxes[0], *size, images[3]))

    def kernel(self, call: Call, images: Array, boxes: Array, index: Array, size: tuple[int, ...]) -> Array:
        out = np.zeros(call.outputs()[0].shape)
        for at in range(len(boxes)):
            down, across = _sides(call, boxes, at, images.shape[1:3], size)
            out[at] = np.einsum("ih,jw,hwc->ijc", down, across, numerics.wide(images[index[at]]))
            outside = ~np.logical_and.outer(down.any(1), across.any(1))
            out[at][outside] = call.attrs["extrapolation_value"]
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        images, boxes, index, _size = b.inputs
        if b.needs[1]:
            raise UnsupportedError("CropAndResize: the gradient of the boxes is not supported")
        shape = Tensor(np.array(images.shape, np.int32))
        attrs = {"method": b.attrs["method"]}
        return emit("CropAndResizeGradImage", b.dout, boxes, index, shape, **attrs), None, None, None


@operator
class CropAndResizeGradImage(Operator):
    """dout, boxes, the image of each, the images' shape: the gradient of the images."""

    name = "CropAndResizeGradImage"
    functional = False
    tensors = (0, 1, 2, 3)

    def infer(self, call: Call) -> Spec:
        return TensorSpec(dtypes.float32, tuple(int(n) for n in call.values[3]))

    def kernel(self, call: Call, dout: Array, boxes: Array, index: Array, shape: Array) -> Array:
        out = np.zeros(tuple(int(n) for n in shape))
        for at in range(len(boxes)):
            down, across = _sides(call, boxes, at, out.shape[1:3], dout.shape[1:3])
            out[index[at]] += np.einsum("ih,jw,ijc->hwc", down, across, numerics.wide(dout[at]))
        return out
