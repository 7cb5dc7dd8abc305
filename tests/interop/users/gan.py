import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(0)
ms.set_context(mode=ms.PYNATIVE_MODE)
G = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 6), nn.Tanh())
D = nn.SequentialCell(nn.Dense(6, 8), nn.LeakyReLU(0.2), nn.Dense(8, 1))
bce = nn.BCEWithLogitsLoss()
og = nn.Adam(G.trainable_params(), 1e-3, beta1=0.5)
od = nn.Adam(D.trainable_params(), 1e-3, beta1=0.5)
for p in G.trainable_params():
    p.name = "G." + p.name
r = np.random.RandomState(0)
one = Tensor(np.ones((3, 1), np.float32))
zero = Tensor(np.zeros((3, 1), np.float32))


def gl(z):
    return bce(D(G(z)), one)


def dl(x, f):
    return (bce(D(x), one) + bce(D(f), zero)) / 2


gg = ms.value_and_grad(gl, None, og.parameters)
gd = ms.value_and_grad(dl, None, od.parameters)
for _ in range(3):
    z = Tensor(r.randn(3, 4).astype(np.float32))
    x = Tensor(r.randn(3, 6).astype(np.float32))
    a, ga = gg(z)
    og(ga)
    b, gb = gd(x, ops.stop_gradient(G(z)))
    od(gb)
    print(f"{float(a):.4f} {float(b):.4f}")
