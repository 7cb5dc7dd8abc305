"""Hooks: before and after construct, on the way back, and on a parameter's gradient."""

import mindspore as ms
from mindspore import Tensor, nn

ms.set_context(mode=ms.PYNATIVE_MODE)
seen = []


def before(cell, inputs):
    seen.append(("pre", type(cell).__name__, inputs[0].shape))
    return (inputs[0] * 2,)


def after(cell, inputs, output):
    seen.append(("post", output.shape))
    return output + 1


def backward(cell, grad_input, grad_output):
    seen.append(("back", len(grad_input), len(grad_output)))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2, weight_init="ones", bias_init="zeros")
        self.relu = nn.ReLU()

    def construct(self, x):
        return self.relu(self.fc(x)).sum()


net = Net()
a = net.fc.register_forward_pre_hook(before)
b = net.fc.register_forward_hook(after)
c = net.relu.register_backward_hook(backward)
x = Tensor([[1.0, 2.0, 3.0]])
print(net(x), ms.grad(net)(x))
print(seen)
a.remove(), b.remove(), c.remove()
seen.clear()
print(net(x), ms.grad(net)(x), seen)
h = net.fc.weight.register_hook(lambda g: g * 10)
print(ms.grad(net, None, net.fc.weight)(x))
h.remove()
print(ms.grad(net, None, net.fc.weight)(x))
