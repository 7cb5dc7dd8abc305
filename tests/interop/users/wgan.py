"""WGAN with weight clipping, two RMSProp optimizers and several critic steps, PyNative."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(7)
rng = np.random.RandomState(4)
real = Tensor(rng.randn(12, 3).astype(np.float32) * 0.5 + 1)


def mlp(i, o):
    return nn.SequentialCell([nn.Dense(i, 8), nn.LeakyReLU(0.2), nn.Dense(8, o)])


gen, critic = mlp(2, 3), mlp(3, 1)
g_opt = nn.RMSProp(gen.trainable_params(), learning_rate=5e-3)
c_opt = nn.RMSProp(critic.trainable_params(), learning_rate=5e-3)


def c_loss(real, z):
    fake = ops.stop_gradient(gen(z))
    return critic(fake).mean() - critic(real).mean()


def g_loss(z):
    return -critic(gen(z)).mean()


c_step = ms.value_and_grad(c_loss, None, c_opt.parameters)
g_step = ms.value_and_grad(g_loss, None, g_opt.parameters)
for it in range(3):
    for _ in range(2):
        z = Tensor(rng.randn(12, 2).astype(np.float32))
        lc, grads = c_step(real, z)
        c_opt(grads)
        for p in critic.trainable_params():
            ops.assign(p, ops.clip_by_value(p, -0.05, 0.05))
    lg, grads = g_step(Tensor(rng.randn(12, 2).astype(np.float32)))
    g_opt(grads)
    print(it, f"{float(lc):.5f} {float(lg):.5f}")
print(max(float(p.abs().max()) for p in critic.trainable_params()) <= 0.05 + 1e-6)
print([f"{float(p.abs().sum()):.4f}" for p in gen.get_parameters()])
