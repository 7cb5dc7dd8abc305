"""CTC by hand: forward variables in log space, a small recogniser."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(17)
np.random.seed(17)
NEG = -1e5


class CTC(nn.Cell):
    def __init__(self, steps, labels, blank=0):
        super().__init__()
        self.steps = steps
        ext = [blank]
        for c in labels:
            ext += [c, blank]
        self.ext = Tensor(ext, ms.int32)
        self.n = len(ext)
        skip = [0.0 if (i >= 2 and ext[i] != blank and ext[i] != ext[i - 2]) else NEG for i in range(len(ext))]
        self.skip = Tensor(skip, ms.float32)
        init = [0.0, 0.0] + [NEG] * (len(ext) - 2)
        self.init = Tensor(init, ms.float32)
        self.pad1 = Tensor([NEG], ms.float32)
        self.pad2 = Tensor([NEG, NEG], ms.float32)

    def construct(self, logp):
        lp = ops.gather(logp, self.ext, 1)
        alpha = self.init + lp[0]
        for t in range(1, self.steps):
            a1 = ops.concat((self.pad1, alpha[:-1]), 0)
            a2 = ops.concat((self.pad2, alpha[:-2]), 0) + self.skip
            alpha = ops.logsumexp(ops.stack((alpha, a1, a2)), 0) + lp[t]
        return -ops.logsumexp(alpha[-2:], 0)


class Recogniser(nn.Cell):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 6, bidirectional=True, batch_first=True)
        self.out = nn.Dense(12, 4)

    def construct(self, x):
        h, _ = self.rnn(x)
        return ops.log_softmax(self.out(h), -1)[0]


net = Recogniser()
loss_fn = CTC(6, [1, 2, 2])
opt = nn.Adam(net.trainable_params(), 0.05)
vg = ms.value_and_grad(lambda x: loss_fn(net(x)), None, opt.parameters)
x = Tensor(np.random.randn(1, 6, 4), ms.float32)
for i in range(3):
    loss, g = vg(x)
    opt(ops.clip_by_global_norm(g, 5.0))
    print(f"step {i} ctc {loss.asnumpy():.5f}")
path = net(x).argmax(axis=-1).asnumpy().tolist()
print(path, [c for k, c in enumerate(path) if c and (k == 0 or path[k - 1] != c)])
