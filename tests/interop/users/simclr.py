"""Contrastive learning: normalized views, a matrix of similarities, cross entropy of the diagonal."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(8)


class Views(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell([nn.Dense(6, 12), nn.ReLU(), nn.Dense(12, 4)])
        self.loss = nn.CrossEntropyLoss()

    def construct(self, a, b, labels):
        a, b = self.body(a), self.body(b)
        a = a / ops.sqrt((a * a).sum(-1, keepdims=True) + 1e-6)
        b = b / ops.sqrt((b * b).sum(-1, keepdims=True) + 1e-6)
        scores = ops.matmul(a, b.swapaxes(0, 1)) / 0.5
        return self.loss(scores, labels) + self.loss(scores.swapaxes(0, 1), labels)


net = Views()
step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))
random = np.random.RandomState(0)
a, b = (Tensor(random.randn(5, 6).astype(np.float32)) for _ in range(2))
for _ in range(3):
    print(f"loss {float(step(a, b, Tensor(np.arange(5), ms.int32)).asnumpy()):.5f}")
