"""A capsule network: primary capsules, routing by agreement, margin loss."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)


def squash(s, axis=-1):
    norm2 = ops.reduce_sum(ops.square(s), axis).expand_dims(axis)
    return norm2 / (1 + norm2) * s / ops.sqrt(norm2 + 1e-8)


class Routing(nn.Cell):
    def __init__(self, n_in, d_in, n_out, d_out, rounds=3):
        super().__init__()
        r = np.random.RandomState(7)
        self.w = Parameter(Tensor(r.randn(1, n_in, n_out, d_out, d_in) * 0.2, ms.float32), name="w")
        self.rounds = rounds
        self.n_in, self.n_out = n_in, n_out

    def construct(self, u):
        b = u.shape[0]
        u = u.expand_dims(2).expand_dims(-1).tile((1, 1, self.n_out, 1, 1))
        w = self.w.tile((b, 1, 1, 1, 1))
        hat = ops.matmul(w, u).squeeze(-1)
        frozen = ops.stop_gradient(hat)
        logits = ops.zeros((b, self.n_in, self.n_out), ms.float32)
        for _ in range(self.rounds - 1):
            c = ops.softmax(logits, axis=-1)
            v = squash((c.expand_dims(-1) * frozen).sum(axis=1))
            logits = logits + (frozen * v.expand_dims(1)).sum(axis=-1)
        c = ops.softmax(logits, axis=-1)
        return squash((c.expand_dims(-1) * hat).sum(axis=1))


class CapsNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3, pad_mode="valid", has_bias=True)
        self.primary = nn.Conv2d(6, 8, 3, stride=2, pad_mode="valid", has_bias=True)
        self.digits = Routing(18, 4, 3, 5)

    def construct(self, x):
        x = ops.relu(self.conv(x))
        p = self.primary(x)
        p = squash(p.reshape(x.shape[0], -1, 4))
        v = self.digits(p)
        return ops.sqrt(ops.square(v).sum(-1) + 1e-8)


class MarginLoss(nn.LossBase):
    def __init__(self, classes):
        super().__init__()
        self.classes = classes

    def construct(self, lengths, label):
        t = ops.one_hot(label, self.classes, Tensor(1.0, ms.float32), Tensor(0.0, ms.float32))
        loss = t * ops.square(ops.relu(0.9 - lengths)) + 0.5 * (1 - t) * ops.square(ops.relu(lengths - 0.1))
        return self.get_loss(loss.sum(axis=1))


net = CapsNet()
r = np.random.RandomState(2)
for p in net.trainable_params():
    if "weight" in p.name:
        p.set_data(Tensor(r.randn(*p.shape) * 0.3, ms.float32))
    elif "bias" in p.name:
        p.set_data(Tensor(np.zeros(p.shape), ms.float32))
x = Tensor(r.rand(4, 1, 9, 9), ms.float32)
y = Tensor([0, 1, 2, 1], ms.int32)
step = nn.TrainOneStepCell(nn.WithLossCell(net, MarginLoss(3)), nn.Adam(net.trainable_params(), 1e-2))
step.set_train()
for i in range(3):
    print("loss", i, step(x, y))
out = net(x)
print(out, out.argmax(axis=1))
