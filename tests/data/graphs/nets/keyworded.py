"""Methods and functions called by keyword in an inner cell, before the cell around calls them by position."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(8, dtype=np.float32).reshape(2, 2, 2) / 8 + 1)
first = Tensor(np.zeros((2, 1, 2), np.int32))
corner = Tensor(np.zeros((1, 2), np.int32))


class Same(nn.Cell):
    """Methods that are the same function with a keyword."""

    def construct(self, x):
        found = x.amax(1), x.amin(axis=1), x.argmax_with_value(axis=1), x.argmin_with_value(axis=1)
        moved = x.moveaxis(source=0, destination=1), x.movedim(source=0, destination=2), x.expand_dims(axis=0)
        swapped = x.swapaxes(axis0=1, axis1=2), x.swapdims(dim0=0, dim1=2), x.flip(dims=(0,))
        products = x.addcmul(tensor1=x, tensor2=x, value=0.5), x.bmm(mat2=x), x.cumprod(dim=1), x.multiply(other=x)
        picked = x.gather_elements(dim=1, index=first), x.gather_nd(indices=corner), x.tensor_split(2, axis=1)
        return found, moved, swapped, products, picked, x.norm(dim=1), x.softmax(axis=1), x.astype(dtype=ms.float16)


class Other(nn.Cell):
    """Methods that are another function with a keyword."""

    def construct(self, x):
        found = x.max(1, keepdims=True), x.min(1, keepdims=True), (x > 1).all(axis=1), (x > 1).any(1, keep_dims=True)
        places = x.argmax(1, keepdims=True), x.sort(axis=1), x.topk(1, dim=1)
        parts = x.split(2, axis=1), x.chunk(2, axis=1), x.unsqueeze(dim=0), x.tril(diagonal=1)
        shapes = x.reshape(shape=(4, 2)), x.tile(reps=(2, 1, 1)), x.permute(axis=(0, 2, 1)), x.mean(1, keep_dims=True)
        return found, places, parts, shapes, x.matmul(tensor2=x), x.mul(other=x), x.repeat_interleave(repeats=2, dim=1)


class Functions(nn.Cell):
    def construct(self, x):
        reduced = ops.reduce_max(x, axis=1), ops.reduce_mean(x, axis=1), ops.reduce_min(x, axis=1)
        return reduced, ops.reduce_sum(x, axis=1), ops.flip(x, dims=(1,)), ops.flip(x, (0,)), ops.reduce_max(x, 0)


class Direct(nn.Cell):
    """Methods that stand where they are called."""

    def construct(self, x):
        shapes = x.broadcast_to((2, 2, 2, 2)), x.triu(1), x.to(ms.float16)
        return shapes, x.div(x), x.less(x), x.maximum(x), x.round()


class Two(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a = Direct()
        self.b = Direct()

    def construct(self, x):
        return self.a(x), self.b(x * 2)


class Around(nn.Cell):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def construct(self, x):
        return self.inner(ops.sin(x))


for inner in (Same(), Other(), Functions()):
    Around(inner)(x)
Two()(x)
