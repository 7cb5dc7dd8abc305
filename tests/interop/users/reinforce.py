"""REINFORCE with a baseline on a toy corridor."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_seed(77)
np.random.seed(77)


class Corridor:
    def __init__(self, n=5):
        self.n = n

    def reset(self):
        self.pos, self.t = self.n // 2, 0
        return self.obs()

    def obs(self):
        o = np.zeros(self.n, np.float32)
        o[self.pos] = 1
        return o

    def step(self, a):
        self.pos += 1 if a == 1 else -1
        self.t += 1
        done = self.pos in (0, self.n - 1) or self.t >= 6
        r = 1.0 if self.pos == self.n - 1 else -0.1
        self.pos = int(np.clip(self.pos, 0, self.n - 1))
        return self.obs(), r, done


class ActorCritic(nn.Cell):
    def __init__(self, n):
        super().__init__()
        self.body = nn.Dense(n, 8, activation=nn.Tanh())
        self.pi = nn.Dense(8, 2)
        self.v = nn.Dense(8, 1)

    def construct(self, s):
        h = self.body(s)
        return self.pi(h), self.v(h).squeeze(-1)


env = Corridor()
net = ActorCritic(5)
opt = nn.Adam(net.trainable_params(), learning_rate=0.02)


def loss_fn(s, a, ret):
    logits, v = net(s)
    logp = ops.log_softmax(logits, axis=-1)
    chosen = logp.gather_elements(1, a.expand_dims(-1)).squeeze(-1)
    adv = ops.stop_gradient(ret - v)
    entropy = -(ops.exp(logp) * logp).sum(-1).mean()
    return -(chosen * adv).mean() + 0.5 * ops.mse_loss(v, ret) - 0.01 * entropy


grad_fn = ms.value_and_grad(loss_fn, None, opt.parameters)
for episode in range(3):
    s, done = env.reset(), False
    ss, aa, rr = [], [], []
    while not done:
        logits, _ = net(Tensor(s[None]))
        p = ops.softmax(logits, -1).asnumpy()[0].astype(np.float64)
        a = int(np.random.rand() < p[1])
        ss.append(s)
        aa.append(a)
        s, r, done = env.step(a)
        rr.append(r)
    ret, g = [], 0.0
    for r in reversed(rr):
        g = r + 0.95 * g
        ret.insert(0, g)
    loss, grads = grad_fn(Tensor(np.stack(ss)), Tensor(aa, ms.int32), Tensor(ret, ms.float32))
    grads = ops.clip_by_value(grads, -1.0, 1.0)
    opt(grads)
    print("episode", episode, "steps", len(rr), f"return {sum(rr):.3f}", f"loss {float(loss):.4f}")
