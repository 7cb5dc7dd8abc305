import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(6)
ms.set_context(mode=ms.GRAPH_MODE)


class Siamese(nn.Cell):
    def __init__(self, body):
        super().__init__()
        self.body = body

    def construct(self, a, b, same):
        distance = ops.sqrt(ops.square(self.body(a) - self.body(b)).sum(1) + 1e-6)
        return (same * distance**2 + (1 - same) * ops.relu(1.0 - distance) ** 2).mean()


net = Siamese(nn.SequentialCell(nn.Dense(5, 8), nn.ReLU(), nn.Dense(8, 3)))
step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1, momentum=0.9, nesterov=True))
r = np.random.RandomState(0)
for _ in range(4):
    a, b = (Tensor(r.randn(6, 5).astype(np.float32)) for _ in range(2))
    print(f"{float(step(a, b, Tensor(r.randint(0, 2, 6).astype(np.float32)))):.4f}")
