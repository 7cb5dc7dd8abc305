"""SpaceToBatchND and BatchToSpaceND: blocks of space as entries of a batch, and back. Each is the other's gradient."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from harness.errors import OperandError
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class SpaceToBatchND(Operator):
    """x (n, ..., sizes): (n * elements of a block, ..., sizes / block). Attributes block_shape, paddings."""

    name = "SpaceToBatchND"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        shape, block, paddings = call.shape(0), call.attrs["block_shape"], call.attrs["paddings"]
        lead = len(shape) - len(block)
        if lead < 1:
            raise call.fail(f"a tensor of at least {1 + len(block)} dimensions is needed")
        padded = [n + sum(pair) for n, pair in zip(shape[lead:], paddings, strict=True)]
        if any(n % size for n, size in zip(padded, block, strict=True)):
            raise OperandError(f"SpaceToBatchND: the padded sizes {padded} must be divisible by {list(block)}")
        out = [n // size for n, size in zip(padded, block, strict=True)]
        return TensorSpec(call.dtype(0), (shape[0] * prod(block), *shape[1:lead], *out))

    def kernel(self, call: Call, x: Array) -> Array:
        block, out = call.attrs["block_shape"], call.outputs()[0].shape
        rank = len(block)
        lead = x.ndim - rank
        padded = np.pad(x, ((0, 0),) * lead + tuple(map(tuple, call.attrs["paddings"])))
        parts = padded.reshape(*x.shape[:lead], *(n for pair in zip(out[lead:], block, strict=True) for n in pair))
        order = (*(lead + 1 + 2 * k for k in range(rank)), *range(lead), *(lead + 2 * k for k in range(rank)))
        return parts.transpose(order).reshape(out)

    def gradient(self, b: Backward) -> Sequence[Any]:
        block, paddings = b.attrs["block_shape"], b.attrs["paddings"]
        return (emit("BatchToSpaceND", b.dout, block_shape=block, crops=paddings),)


@operator
class BatchToSpaceND(Operator):
    """x (n * elements of a block, ..., sizes): (n, ..., sizes * block), cropped. Attributes block_shape, crops."""

    name = "BatchToSpaceND"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        shape, block, crops = call.shape(0), call.attrs["block_shape"], call.attrs["crops"]
        lead = len(shape) - len(block)
        if lead < 1 or shape[0] % prod(block):
            raise call.fail(f"{1 + len(block)} dimensions and a batch divisible by {prod(block)} are needed")
        out = [n * size - sum(pair) for n, size, pair in zip(shape[lead:], block, crops, strict=True)]
        if min(out) < 1:
            raise call.fail(f"crops {crops} leave nothing")
        return TensorSpec(call.dtype(0), (shape[0] // prod(block), *shape[1:lead], *out))

    def kernel(self, call: Call, x: Array) -> Array:
        block, crops, out = call.attrs["block_shape"], call.attrs["crops"], call.outputs()[0].shape
        rank = len(block)
        lead = x.ndim - rank
        parts = x.reshape(*block, out[0], *x.shape[1:])
        order = (*range(rank, rank + lead), *(at for k in range(rank) for at in (rank + lead + k, k)))
        sizes = (n * size for n, size in zip(x.shape[lead:], block, strict=True))
        whole = parts.transpose(order).reshape(*out[:lead], *sizes)
        inner = (slice(low, low + n) for (low, _), n in zip(crops, out[lead:], strict=True))
        return whole[(slice(None),) * lead + tuple(inner)]

    def gradient(self, b: Backward) -> Sequence[Any]:
        block, crops = b.attrs["block_shape"], b.attrs["crops"]
        return (emit("SpaceToBatchND", b.dout, paddings=crops, block_shape=block),)
