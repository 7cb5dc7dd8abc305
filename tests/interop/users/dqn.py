"""Reinforcement learning: two copies of a network, targets by gather and stop_gradient, soft update."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_seed(4)


def q_network():
    return nn.SequentialCell([nn.Dense(4, 16, activation="relu"), nn.Dense(16, 2)])


online, target = q_network(), q_network()
for a, b in zip(target.get_parameters(), online.get_parameters(), strict=False):
    a.set_data(b)
optimizer = nn.Adam(online.trainable_params(), 0.01)


def forward(state, action, reward, following):
    best = ops.stop_gradient(ops.amax(target(following), 1))
    chosen = ops.gather_elements(online(state), 1, action).squeeze(1)
    return ops.smooth_l1_loss(chosen, reward + 0.9 * best, reduction="mean")


gradient = ms.value_and_grad(forward, None, optimizer.parameters)
random = np.random.RandomState(0)
for _ in range(4):
    state, following = (Tensor(random.randn(5, 4).astype(np.float32)) for _ in range(2))
    action = Tensor(random.randint(0, 2, (5, 1)), ms.int32)
    loss, grads = gradient(state, action, Tensor(random.randn(5).astype(np.float32)), following)
    optimizer(grads)
    for a, b in zip(target.get_parameters(), online.get_parameters(), strict=False):
        a.set_data(a * 0.9 + b * 0.1)
    print(f"loss {float(loss.asnumpy()):.5f}")
