import itertools

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
import numpy as np

np.random.seed(5)
ms.set_seed(5)


def mlp(sizes):
    layers = []
    for i, o in itertools.pairwise(sizes[:-1]):
        layers += [nn.Dense(i, o), nn.BatchNorm1d(o), nn.ReLU()]
    layers.append(nn.Dense(sizes[-2], sizes[-1]))
    return nn.SequentialCell(*layers)


class KDLoss(nn.LossBase):
    def __init__(self, T=4.0, alpha=0.7):
        super().__init__()
        self.T, self.alpha = T, alpha
        self.ce = nn.CrossEntropyLoss()
        self.kl = nn.KLDivLoss(reduction="batchmean")

    def construct(self, s, t, y):
        t = ops.stop_gradient(t)
        soft = self.kl(ops.log_softmax(s / self.T, -1), ops.softmax(t / self.T, -1)) * self.T**2
        hard = self.ce(s, y)
        return self.alpha * soft + (1 - self.alpha) * hard, soft, hard


class WithKD(nn.Cell):
    def __init__(self, teacher, student, loss):
        super().__init__()
        self.teacher = teacher
        self.student = student
        self.loss = loss

    def construct(self, x, y):
        t = self.teacher(x)
        s = self.student(x)
        return self.loss(s, t, y)


teacher = mlp([12, 24, 16, 5])
teacher.set_train(False)
for p in teacher.get_parameters():
    p.requires_grad = False
student = mlp([12, 8, 5])
student.set_train(True)

wrapped = WithKD(teacher, student, KDLoss())
lr = nn.cosine_decay_lr(0.0, 0.1, total_step=6, step_per_epoch=2, decay_epoch=3)
print([f"{v:.4f}" for v in lr])
opt = nn.SGD(student.trainable_params(), lr, momentum=0.9, nesterov=True, weight_decay=1e-4)
weights = ms.ParameterTuple(student.trainable_params())


class TrainStep(nn.Cell):
    def __init__(self, net, opt):
        super().__init__(auto_prefix=False)
        self.net = net
        self.opt = opt
        self.w = opt.parameters
        self.grad = ops.GradOperation(get_by_list=True, sens_param=True)

    def construct(self, x, y):
        total, soft, hard = self.net(x, y)
        sens = (ops.ones_like(total), ops.zeros_like(soft), ops.zeros_like(hard))
        g = self.grad(self.net, self.w)(x, y, sens)
        self.opt(g)
        return total, soft, hard


step = TrainStep(wrapped, opt)
x = ms.Tensor(np.random.normal(size=(8, 12)).astype(np.float32))
y = ms.Tensor(np.random.randint(0, 5, 8), ms.int32)
for i in range(3):
    a, b, c = step(x, y)
    print(i, "total", a, "soft", b, "hard", c)
