import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(5)
ms.set_context(mode=ms.PYNATIVE_MODE)


class Ranker(nn.Cell):
    def __init__(self, users, items, size):
        super().__init__()
        self.users = nn.Embedding(users, size)
        self.items = nn.Embedding(items, size)
        self.bias = ms.Parameter(ops.zeros((1,), ms.float32), name="bias")

    def construct(self, user, item):
        return (self.users(user) * self.items(item)).sum(-1) + self.bias


net = Ranker(6, 9, 4)
opt = nn.Adagrad(net.trainable_params(), accum=0.1, learning_rate=0.5)
loss = nn.BCEWithLogitsLoss()
grad = ms.value_and_grad(lambda u, i, y: loss(net(u, i), y), None, net.trainable_params())
r = np.random.RandomState(1)
user, item = Tensor(r.randint(0, 6, 12).astype(np.int32)), Tensor(r.randint(0, 9, 12).astype(np.int32))
clicked = Tensor(r.randint(0, 2, 12).astype(np.float32))
for _ in range(4):
    value, grads = grad(user, item, clicked)
    opt(grads)
    print(f"{float(value):.4f}")
