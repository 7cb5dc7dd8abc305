import mindspore
import numpy as np
from mindspore import Tensor, grad, nn, ops

mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
mindspore.set_seed(21)
np.random.seed(21)

log = []


def pre(cell, inputs):
    log.append(("pre", cell.cls_name, tuple(inputs[0].shape)))
    return inputs


def fwd(cell, inputs, output):
    log.append(("fwd", cell.cls_name, tuple(output.shape)))
    return output * 1.0


def bwd(cell, grad_input, grad_output):
    log.append(("bwd", cell.cls_name, tuple(grad_output[0].shape)))


class Highway(nn.Cell):
    def __init__(self, d):
        super().__init__()
        self.plain = nn.Dense(d, d)
        self.gate = nn.Dense(d, d, bias_init=-1.0)

    def construct(self, x):
        t = ops.sigmoid(self.gate(x))
        return t * ops.relu(self.plain(x)) + (1 - t) * x


class Model(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inp = nn.Dense(4, 6)
        self.hw1 = Highway(6)
        self.hw2 = Highway(6)
        self.out = nn.Dense(6, 2)

    def construct(self, x):
        return self.out(self.hw2(self.hw1(self.inp(x))))


net = Model()
h1 = net.hw1.register_forward_pre_hook(pre)
h2 = net.hw1.register_forward_hook(fwd)
h3 = net.hw2.register_backward_hook(bwd)
x = Tensor(np.random.randn(3, 4).astype(np.float32))
y = Tensor(np.random.randn(3, 2).astype(np.float32))
opt = nn.SGD(net.trainable_params(), learning_rate=0.1)
loss_fn = nn.MSELoss()
step = mindspore.value_and_grad(lambda a, b: loss_fn(net(a), b), None, opt.parameters)
for _i in range(2):
    loss, gs = step(x, y)
    norms = [round(float(ops.norm(g)), 4) for g in gs]
    print("loss", loss, norms)
    opt(gs)
print(log)
h1.remove()
h2.remove()
h3.remove()
log.clear()
step(x, y)
print(len(log))
gx = grad(lambda a: net(a).sum())(x)
print(gx)
