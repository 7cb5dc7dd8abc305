"""DepthToSpace and SpaceToDepth (NCHW): blocks of channels laid out as pixels, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def _back(b: Backward, name: str) -> tuple[Any]:
    attrs = {"input_names": ("x",), "block_size": b.attrs["block_size"], "data_format": b.attrs["format"],
             "output_names": ("y",), "format": b.attrs["format"]}  # fmt: skip
    return (emit(name, b.dout, **attrs),)


@operator
class DepthToSpace(Operator):
    """(n, c, h, w) to (n, c / block ** 2, h * block, w * block)."""

    name = "DepthToSpace"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        shape, block = call.shape(0), call.attrs["block_size"]
        if len(shape) != 4 or shape[1] % (block * block):
            raise call.fail(f"(n, c, h, w) with c a multiple of {block * block} is needed")
        n, c, h, w = shape
        return TensorSpec(call.dtype(0), (n, c // (block * block), h * block, w * block))

    def kernel(self, call: Call, x: Array) -> Array:
        (n, c, h, w), block = x.shape, call.attrs["block_size"]
        parts = x.reshape(n, block, block, c // (block * block), h, w).transpose(0, 3, 4, 1, 5, 2)
        return np.ascontiguousarray(parts).reshape(call.outputs()[0].shape)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return _back(b, "SpaceToDepth")


@operator
class SpaceToDepth(Operator):
    """(n, c, h, w) to (n, c * block ** 2, h / block, w / block)."""

    name = "SpaceToDepth"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        shape, block = call.shape(0), call.attrs["block_size"]
        if len(shape) != 4 or shape[2] % block or shape[3] % block:
            raise call.fail(f"(n, c, h, w) with h and w multiples of {block} is needed")
        n, c, h, w = shape
        return TensorSpec(call.dtype(0), (n, c * block * block, h // block, w // block))

    def kernel(self, call: Call, x: Array) -> Array:
        (n, c, h, w), block = x.shape, call.attrs["block_size"]
        parts = x.reshape(n, c, h // block, block, w // block, block).transpose(0, 3, 5, 1, 2, 4)
        return np.ascontiguousarray(parts).reshape(call.outputs()[0].shape)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return _back(b, "DepthToSpace")
