import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_seed(0)


class Tagger(nn.Cell):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(11, 6)
        self.g = nn.GRU(6, 5, batch_first=True)
        self.o = nn.Dense(5, 3)

    def construct(self, x):
        h, _ = self.g(self.e(x))
        return self.o(h).reshape(-1, 3)


net = Tagger()
loss = nn.CrossEntropyLoss()
opt = nn.Momentum(net.trainable_params(), 0.1, 0.9)


def f(x, y):
    return loss(net(x), y)


g = ms.value_and_grad(f, None, opt.parameters)
r = np.random.RandomState(0)
x = Tensor(r.randint(0, 11, (2, 5)), ms.int32)
y = Tensor(r.randint(0, 3, 10), ms.int32)
for _ in range(3):
    loss_value, gr = g(x, y)
    opt(gr)
    print(f"{float(loss_value):.4f}")
