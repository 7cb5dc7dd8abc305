"""Dueling double deep Q learning: target network, replay memory in numpy, soft updates, Huber loss."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)


class Dueling(nn.Cell):
    def __init__(self, s=4, a=3, h=6):
        super().__init__()
        self.body = nn.Dense(s, h, activation="relu")
        self.value = nn.Dense(h, 1)
        self.adv = nn.Dense(h, a)

    def construct(self, x):
        h = self.body(x)
        a = self.adv(h)
        return self.value(h) + a - a.mean(1, keep_dims=True)


class TD(nn.Cell):
    def __init__(self, q, target, gamma=0.9):
        super().__init__()
        self.q, self.target, self.gamma = q, target, gamma
        self.huber = nn.HuberLoss(delta=1.0)

    def construct(self, s, a, r, s2, done):
        q = ops.gather_elements(self.q(s), 1, a.expand_dims(1)).squeeze(1)
        best = ops.stop_gradient(self.q(s2)).argmax(1)
        nxt = ops.gather_elements(self.target(s2), 1, best.expand_dims(1).astype(ms.int32)).squeeze(1)
        y = r + self.gamma * (1 - done) * ops.stop_gradient(nxt)
        return self.huber(q, y)


class SoftUpdate(nn.Cell):
    def __init__(self, q, target, tau=0.2):
        super().__init__()
        self.a = ms.ParameterTuple(q.trainable_params())
        self.b = ms.ParameterTuple(target.get_parameters())
        self.tau = tau

    def construct(self):
        for p, t in zip(self.a, self.b):  # noqa: B905 - not in a graph
            ops.assign(t, (1 - self.tau) * t + self.tau * p)
        return True


rng = np.random.RandomState(21)
q, target = Dueling(), Dueling()
for p, t in zip(q.get_parameters(), target.get_parameters(), strict=True):
    v = rng.randn(*p.shape) * 0.4
    p.set_data(Tensor(v, ms.float32))
    t.set_data(Tensor(v, ms.float32))
    t.requires_grad = False
memory = [(rng.randn(4), rng.randint(3), rng.randn(), rng.randn(4), float(rng.rand() > 0.8)) for _ in range(20)]
step = nn.TrainOneStepCell(TD(q, target), nn.Adam(q.trainable_params(), 0.01))
step.set_train()
soft = SoftUpdate(q, target)
for i in range(3):
    batch = [memory[j] for j in rng.choice(20, 6, replace=False)]
    s, a, r, s2, d = (np.array(v) for v in zip(*batch, strict=True))
    s, r, s2, d = (Tensor(v, ms.float32) for v in (s, r, s2, d))
    loss = step(s, Tensor(a, ms.int32), r, s2, d)
    soft()
    print(i, loss)
print(target(Tensor(memory[0][0][None], ms.float32)))
