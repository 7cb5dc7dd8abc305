import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_seed(2)
ms.set_context(mode=ms.GRAPH_MODE)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(nn.Dense(4, 8), nn.LayerNorm((8,)), nn.ReLU())
        self.head = nn.Dense(8, 3)

    def construct(self, x):
        return self.head(self.body(x))


net = Net()
decayed = [p for p in net.trainable_params() if "bias" not in p.name]
others = [p for p in net.trainable_params() if "bias" in p.name]
groups = [{"params": decayed, "weight_decay": 0.01, "lr": 0.02}, {"params": others}]
opt = nn.RMSProp(groups, learning_rate=0.01, momentum=0.9, epsilon=1e-3)
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), opt)
step.set_train()
r = np.random.RandomState(0)
for i in range(4):
    x, y = Tensor(r.randn(8, 4).astype(np.float32)), Tensor(r.randint(0, 3, 8).astype(np.int32))
    print(i, f"{float(step(x, y)):.4f}")
