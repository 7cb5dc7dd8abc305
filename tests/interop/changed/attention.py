import zlib

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
ms.set_seed(1)


def drawn(name, *shape):
    random = np.random.RandomState(zlib.crc32(name.encode()))
    return random.normal(size=shape).astype(np.float32) / 2


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm((8,), epsilon=1e-7)
        self.q = nn.Dense(8, 8)
        self.k = nn.Dense(8, 8)
        self.v = nn.Dense(8, 8)
        self.softmax = nn.Softmax(axis=-1)
        self.product = ops.BatchMatMul()
        self.turned = ops.BatchMatMul(transpose_b=True)
        self.up = nn.Dense(8, 12)
        self.gelu = nn.GELU()
        self.down = nn.Dense(12, 8)

    def construct(self, x):
        h = self.norm(x)
        q, k, v = self.q(h), self.k(h), self.v(h)
        scores = self.turned(q, k) * 0.35
        x = x + self.product(self.softmax(scores), v)
        return x + self.down(self.gelu(self.up(x)))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 8)
        self.block = Block()
        self.head = nn.Dense(8, 3)

    def construct(self, tokens):
        x = self.block(self.embed(tokens))
        x = ops.mean(x, 1)
        return self.head(x)


net = Net()
for parameter in net.trainable_params():
    parameter.set_data(Tensor(drawn(parameter.name, *parameter.shape)))
loss = nn.MSELoss()
optimizer = nn.AdamWeightDecay(net.trainable_params(), learning_rate=0.01, eps=1e-6, weight_decay=0.01)
step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
step.set_train()
for index in range(2):
    tokens = (np.arange(16, dtype=np.int32).reshape(2, 8) * (3 + index)) % 11
    y = drawn(f"y{index}", 2, 3)
    step(Tensor(tokens), Tensor(y))
