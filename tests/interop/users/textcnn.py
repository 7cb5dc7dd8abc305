"""TextCNN: an Embedding, convolutions of three widths, the largest over time."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(7)


class TextCNN(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.convs = nn.CellList([nn.Conv2d(1, 4, (n, 8), pad_mode="valid") for n in (2, 3, 4)])
        self.fc = nn.Dense(12, 2)

    def construct(self, x):
        x = ops.expand_dims(self.embedding(x), 1)
        parts = []
        for conv in self.convs:
            y = ops.relu(conv(x)).squeeze(3)
            parts.append(ops.amax(y, 2))
        return self.fc(ops.concat(parts, 1))


net = TextCNN()
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.Adam(net.trainable_params(), 0.01))
random = np.random.RandomState(0)
x, y = Tensor(random.randint(0, 20, (6, 9)), ms.int32), Tensor(np.arange(6) % 2, ms.int32)
for _ in range(3):
    print(f"loss {float(step(x, y).asnumpy()):.5f}")
