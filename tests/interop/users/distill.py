import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(0)
ms.set_context(mode=ms.GRAPH_MODE)
T = nn.SequentialCell(nn.Dense(4, 16), nn.ReLU(), nn.Dense(16, 3))
S = nn.SequentialCell(nn.Dense(4, 4), nn.ReLU(), nn.Dense(4, 3))
T.set_train(False)
for p in T.get_parameters():
    p.requires_grad = False


class KD(nn.Cell):
    def __init__(self, s, t):
        super().__init__()
        self.s = s
        self.t = t
        self.ce = nn.CrossEntropyLoss()
        self.kl = nn.KLDivLoss(reduction="batchmean")

    def construct(self, x, y):
        ls = self.s(x)
        lt = ops.stop_gradient(self.t(x))
        return 0.5 * self.ce(ls, y) + 0.5 * 4 * self.kl(ops.log_softmax(ls / 2, -1), ops.softmax(lt / 2, -1))


step = nn.TrainOneStepCell(KD(S, T), nn.SGD(S.trainable_params(), 0.1))
r = np.random.RandomState(0)
x = Tensor(r.randn(6, 4).astype(np.float32))
y = Tensor(np.array([0, 1, 2, 0, 1, 2]), ms.int32)
for _ in range(3):
    print(f"{float(step(x, y)):.4f}")
