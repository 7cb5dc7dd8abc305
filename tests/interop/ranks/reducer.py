"""Gradients summed by a ``DistributedGradReducer`` of the script's own, in PyNative mode."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn
from mindspore.communication import get_rank, init

ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
init()
ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
random = np.random.default_rng(get_rank())
net = nn.Dense(3, 2, weight_init="ones", bias_init="zeros")
loss, optimizer = nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9)
reducer = nn.DistributedGradReducer(optimizer.parameters)


def forward(x, y):
    return loss(net(x), y)


slope = ms.value_and_grad(forward, None, optimizer.parameters)
for _ in range(2):
    x, y = (Tensor(random.standard_normal((4, n)).astype(np.float32)) for n in (3, 2))
    optimizer(reducer(slope(x, y)[1]))
