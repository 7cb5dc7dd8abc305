"""Mean teacher: a student trained with SGD, a teacher that follows by an exponential moving average."""

import copy

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(3)
rng = np.random.RandomState(0)
x = Tensor(rng.randn(16, 6).astype(np.float32))
y = Tensor(rng.randint(0, 3, 16).astype(np.int32))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(nn.Dense(6, 8), nn.ReLU(), nn.Dense(8, 3))

    def construct(self, x):
        return self.body(x)


student = Net()
teacher = copy.deepcopy(student)
for p in teacher.get_parameters():
    p.requires_grad = False
opt = nn.Momentum(student.trainable_params(), 0.1, 0.9)
ce = nn.CrossEntropyLoss()


def forward(x, y):
    logits = student(x)
    consistency = ((ops.softmax(logits) - ops.stop_gradient(ops.softmax(teacher(x)))) ** 2).mean()
    return ce(logits, y) + 0.5 * consistency, consistency


step = ms.value_and_grad(forward, None, opt.parameters, has_aux=True)
for epoch in range(4):
    (loss, cons), grads = step(x, y)
    opt(grads)
    for s, t in zip(student.get_parameters(), teacher.get_parameters(), strict=True):
        ops.assign(t, 0.9 * t + 0.1 * s)
    print(epoch, f"{float(loss):.4f} {float(cons):.6f}")
print([f"{float(p.sum()):.4f}" for p in teacher.get_parameters()], len(teacher.trainable_params()))
