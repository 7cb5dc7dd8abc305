"""A learning rate with warm-up (a schedule of its own), groups of parameters, evaluation in between."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(9)


class WarmUp(nn.learning_rate_schedule.LearningRateSchedule):
    def __init__(self, rate: float, steps: int):
        super().__init__()
        self.rate, self.steps = rate, steps

    def construct(self, global_step):
        done = ops.cast(global_step + 1, ms.float32)
        return self.rate * ops.minimum(done / self.steps, Tensor(1.0, ms.float32))


net = nn.SequentialCell([nn.Dense(4, 8), nn.LayerNorm((8,)), nn.ReLU(), nn.Dense(8, 1)])
biases = [p for p in net.trainable_params() if "bias" in p.name]
others = [p for p in net.trainable_params() if "bias" not in p.name]
optimizer = nn.Momentum([{"params": others, "weight_decay": 0.01}, {"params": biases}], WarmUp(0.1, 3), 0.9)
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.HuberLoss()), optimizer)
random = np.random.RandomState(4)
x, y = (Tensor(random.randn(8, n).astype(np.float32)) for n in (4, 1))
for _ in range(4):
    loss = step(x, y)
    print(f"loss {float(loss.asnumpy()):.5f}", f"mean {float(net(x).mean().asnumpy()):.5f}")
