"""A policy gradient with a clipped ratio, entropy, and a value head."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_seed(1)


class Agent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(nn.Dense(4, 16), nn.Tanh())
        self.pi, self.v = nn.Dense(16, 3), nn.Dense(16, 1)

    def construct(self, s):
        h = self.body(s)
        return ops.log_softmax(self.pi(h), axis=-1), self.v(h).squeeze(-1)


agent = Agent()
opt = nn.Adam(agent.trainable_params(), 3e-3)
r = np.random.RandomState(0)
s = Tensor(r.randn(10, 4), ms.float32)
a = Tensor(r.randint(0, 3, 10), ms.int32)
ret = Tensor(r.randn(10), ms.float32)
old, v0 = agent(s)
old = ops.gather_d(old, 1, a.reshape(-1, 1)).reshape(-1)
adv = ret - v0
adv = (adv - adv.mean()) / (adv.std() + 1e-8)


def loss(s):
    logp, v = agent(s)
    chosen = ops.gather_d(logp, 1, a.reshape(-1, 1)).reshape(-1)
    ratio = ops.exp(chosen - old)
    clipped = ops.clip_by_value(ratio, 0.8, 1.2)
    policy = -ops.minimum(ratio * adv, clipped * adv).mean()
    entropy = -(ops.exp(logp) * logp).sum(-1).mean()
    return policy + 0.5 * ops.mse_loss(v, ret) - 0.01 * entropy


g = ms.value_and_grad(loss, None, agent.trainable_params())
for _ in range(5):
    value, gr = g(s)
    opt(ops.clip_by_global_norm(gr, 0.5))
print(f"{float(value):.5f}")
print([f"{float(x.norm()):.4f}" for x in gr])
