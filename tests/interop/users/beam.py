"""A greedy decoder whose length a tensor decides, graph mode; elements of a buffer are assigned."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(5)


class Decoder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(7, 4)
        self.cell = nn.Dense(8, 4)
        self.out = nn.Dense(4, 7)

    def construct(self, token, state, steps):
        count = ops.zeros_like(steps)
        total = ops.zeros_like(state)
        while count < steps:
            state = ops.tanh(self.cell(ops.concat((self.table(token), state), 1)))
            token = self.out(state).argmax(1).astype(ms.int32)
            total = total + state
            count = count + 1
        total[0, :] = 0
        total[:, 3] = 1.0
        return token, total


net = Decoder()
for steps in (0, 1, 4):
    token, total = net(Tensor([1, 3], ms.int32), Tensor(np.zeros((2, 4)), ms.float32), Tensor(steps, ms.int32))
    print(token, total.asnumpy().round(4).tolist())
