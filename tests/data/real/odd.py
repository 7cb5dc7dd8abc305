"""Odd names, names that mangle alike, a name too long for a file, bfloat16, and float16 that is computed in float32."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
NAMES = ("a_b", "a.b", "enc/layer 0.w\\x", "q\"uo,te's", "权重-1")


class Inner(nn.Cell):
    def construct(self, x):
        return ops.relu(x)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        for at, name in enumerate(NAMES):
            setattr(self, f"p{at}", Parameter(Tensor(np.full(2, at, np.float32)), name=name))
        setattr(self, "n" * 230, Inner())

    def construct(self, x):
        y = getattr(self, "n" * 230)(x + self.p0) + self.p1 + self.p2 + self.p3 + self.p4
        half = ops.cast(y, ms.float16).reshape(1, 2)
        ops.Print()("a, b)", y)
        return ops.matmul(half, half.reshape(2, 1)), ops.cast(y, ms.bfloat16)


Net()(Tensor(np.ones(2, np.float32)))
