"""Data-parallel training with weight decay: ``OPTIMIZER [groups] [changing] [scaled] [pynative]``."""

import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn
from mindspore.communication import get_rank, init

ms.set_context(mode=ms.PYNATIVE_MODE if "pynative" in sys.argv else ms.GRAPH_MODE, device_target="CPU")
init()
ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
random = np.random.default_rng(0)


class Changing(nn.Cell):
    def construct(self, step):
        return 0.1 / (step + 1.0)


def fixed(*shape):
    return Tensor(random.standard_normal(shape).astype(np.float32))


layers = nn.Dense(4, 5, fixed(5, 4), fixed(5)), nn.LayerNorm((5,)), nn.Dense(5, 3, fixed(3, 5), fixed(3))
net = nn.SequentialCell(*layers)
weights = net.trainable_params()
if "groups" in sys.argv:
    weights = [{"params": weights[:2], "weight_decay": 0.25}, {"params": weights[2:]}]
scale = 4.0 if "scaled" in sys.argv else 1.0
settings = {"weight_decay": Changing() if "changing" in sys.argv else 0.125, "loss_scale": scale}
if sys.argv[1] == "momentum":
    optimizer = nn.Momentum(weights, 0.1, 0.9, **settings)
else:
    kind = {"sgd": nn.SGD, "adam": nn.Adam, "ftrl": nn.FTRL, "rmsprop": nn.RMSProp, "adagrad": nn.Adagrad}[sys.argv[1]]
    optimizer = kind(weights, learning_rate=0.1, **settings)
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer, sens=scale if scale != 1 else None)
x = Tensor(np.random.default_rng(get_rank()).standard_normal((2, 4)).astype(np.float32))
for _ in range(2):
    step(x, Tensor(np.zeros((2, 3), np.float32)))
