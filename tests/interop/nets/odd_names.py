"""Parameter names with slashes, blanks, quotes, other alphabets, and two that collide once mangled."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_device("CPU")


def ones(name):
    return ms.Parameter(Tensor(np.ones(2, np.float32)), name=name)


class Odd(nn.Cell):
    def __init__(self):
        super().__init__()
        self.p1 = ones("enc/layer 0.w\\x")
        self.p2 = ones("权重-1")
        self.p3 = ones("a_b")
        self.p4 = ones("a.b")
        self.p5 = ones("q\"uo,te's")
        self.relu = nn.ReLU()
        self.sub = nn.SequentialCell([nn.ReLU(), nn.Tanh()])

    def construct(self, x):
        return self.sub(self.relu(x + self.p1) + self.p2 + self.p3 + self.p4 + self.p5)


print(Odd()(Tensor(np.ones(2, np.float32))))
