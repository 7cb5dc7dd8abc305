"""Knowledge distillation: soft targets and hints from a middle layer of a frozen teacher."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(1)


class Block(nn.Cell):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Dense(i, o)
        self.ln = nn.LayerNorm((o,))

    def construct(self, x):
        return ops.gelu(self.ln(self.fc(x)))


class Mlp(nn.Cell):
    def __init__(self, widths, classes=4):
        super().__init__()
        self.blocks = nn.CellList([Block(widths[i], widths[i + 1]) for i in range(len(widths) - 1)])
        self.head = nn.Dense(widths[-1], classes)

    def construct(self, x):
        feats = []
        for b in self.blocks:
            x = b(x)
            feats.append(x)
        return self.head(x), feats


class Distill(nn.Cell):
    def __init__(self, student, teacher, t=3.0, alpha=0.6, beta=0.1):
        super().__init__()
        self.student, self.teacher = student, teacher
        self.t, self.alpha, self.beta = t, alpha, beta
        self.adapt = nn.Dense(5, 8)
        self.kl = nn.KLDivLoss(reduction="batchmean")
        self.ce = nn.CrossEntropyLoss()

    def construct(self, x, y):
        s, sf = self.student(x)
        t, tf = self.teacher(x)
        t = ops.stop_gradient(t)
        soft = self.kl(ops.log_softmax(s / self.t, -1), ops.softmax(t / self.t, -1)) * self.t**2
        hint = ops.mse_loss(self.adapt(sf[0]), ops.stop_gradient(tf[0]))
        return self.alpha * soft + (1 - self.alpha) * self.ce(s, y) + self.beta * hint


rng = np.random.RandomState(77)
teacher, student = Mlp([6, 8, 8]), Mlp([6, 5])
net = Distill(student, teacher)
for p in net.get_parameters():
    if p.ndim == 2:
        p.set_data(Tensor(rng.randn(*p.shape) * 0.4, ms.float32))
teacher.set_train(False)
teacher.update_parameters_name("teacher.")
for p in teacher.get_parameters():
    p.requires_grad = False
x, y = Tensor(rng.randn(8, 6), ms.float32), Tensor(rng.randint(0, 4, 8), ms.int32)
step = nn.TrainOneStepCell(net, nn.AdamWeightDecay(net.trainable_params(), 0.02, weight_decay=0.01))
step.set_train()
for i in range(3):
    print(i, step(x, y))
print([p.name for p in net.trainable_params()], student(x)[0].argmax(1))
