# EMA of weights and resuming from a checkpoint
import os
import tempfile

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(123)
np.random.seed(123)


class EMA(nn.Cell):
    def __init__(self, params, decay=0.9):
        super().__init__()
        self.params = ms.ParameterTuple(params)
        self.shadow = self.params.clone(prefix="ema", init="same")
        self.decay = decay
        self.updates = ms.Parameter(Tensor(0, ms.float32), name="updates", requires_grad=False)

    def construct(self):
        self.updates += 1
        d = self.decay * (1 - ops.exp(-self.updates / 20))
        for s, p in zip(self.shadow, self.params):  # noqa: B905 - not in a graph
            ops.assign(s, s * d + (1 - d) * p)
        return d


class Reg(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(nn.Dense(5, 9), nn.Tanh(), nn.Dense(9, 1))

    def construct(self, x):
        return self.layers(x).squeeze(-1)


net = Reg()
ema = EMA(net.trainable_params())
opt = nn.AdamWeightDecay(net.trainable_params(), learning_rate=nn.PolynomialDecayLR(0.02, 1e-4, 10, 2.0))
loss_fn = nn.HuberLoss(delta=0.5)
grad = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, net.trainable_params())


def train(n):
    for _ in range(n):
        x = Tensor(np.random.randn(6, 5), ms.float32)
        y = x.sum(axis=1)
        loss, g = grad(x, y)
        opt(g)
        d = ema()
        print(f"loss {float(loss):.5f} decay {float(d):.5f}")


train(3)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "a.ckpt")
    ms.save_checkpoint(
        [{"name": p.name, "data": p} for p in net.get_parameters()] + [{"name": "epoch", "data": Tensor(3, ms.int32)}],
        path,
        append_dict={"lr": 0.02},
    )
    state = ms.load_checkpoint(path)
    print(sorted(state))
    other = Reg()
    a, b = ms.load_param_into_net(other, state)
    print(a, b)
x = Tensor(np.ones((2, 5)), ms.float32)
print(other(x), net(x))
same = zip(other.get_parameters(), net.get_parameters(), strict=True)
print(all(np.array_equal(p.asnumpy(), q.asnumpy()) for p, q in same))
print([s.name for s in ema.shadow])
