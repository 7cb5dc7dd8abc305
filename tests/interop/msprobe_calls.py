"""A script with ``PrecisionDebugger``: ``msprobe_calls.py LEVEL TASK [START]``; START makes the weights' values."""

import json
import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from msprobe.mindspore import PrecisionDebugger

LEVEL, TASK = sys.argv[1:3]
ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_seed(1)


class Scale(nn.Cell):
    """Two results, of which one takes part in the loss; an argument by keyword."""

    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(Tensor(np.ones(4, np.float32)), name="weight")
        self.mul = ops.Mul()

    def construct(self, x, factor=2.0):
        return self.mul(x, self.weight) * factor, x


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 4)
        self.act = nn.ReLU()

    def construct(self, x):
        return self.act(self.fc(x)) + x


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.scale = Scale()
        self.more = nn.SequentialCell(nn.Dense(4, 4, has_bias=False), nn.Tanh())
        self.last = nn.Dense(4, 3)

    def construct(self, x):
        x = self.block(x)
        x, _ = self.scale(x)
        x, _ = self.scale(x, factor=0.5)
        x = self.more(ops.softmax(x * 2, axis=-1))
        chosen = ops.where(x > 0, x, -x)
        return self.last(ops.concat((x, chosen), 0)).sum(axis=0)


net = Net()
if len(sys.argv) > 3:
    net.more[0].weight.set_data(net.more[0].weight * float(sys.argv[3]))
with open("config.json", "w") as file:
    json.dump({"task": TASK, "dump_path": f"dump_{LEVEL}", "rank": [], "step": [0, 2], "level": LEVEL, TASK: {}}, file)
debugger = PrecisionDebugger(config_path="config.json")
optimizer = nn.SGD(net.trainable_params(), 0.1)
step = ms.value_and_grad(lambda x: (net(x) ** 2).mean(), None, optimizer.parameters)
x = Tensor(np.arange(8, dtype=np.float32).reshape(2, 4) / 8)
for _ in range(3):
    debugger.start(net)
    loss, grads = step(x)
    optimizer(grads)
    debugger.stop()
    debugger.step()
    print(f"{float(loss.asnumpy()):.4f}")
