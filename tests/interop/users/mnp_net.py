import mindspore as ms
import mindspore.numpy as mnp
import numpy as np
from mindspore import Parameter, Tensor, nn, value_and_grad

ms.set_seed(1)
ms.set_context(mode=ms.PYNATIVE_MODE)


class Mixture(nn.Cell):
    """A mixture of Gaussians: log likelihood of points."""

    def __init__(self, parts):
        super().__init__()
        self.logits = Parameter(mnp.zeros((parts,)), name="logits")
        self.means = Parameter(mnp.linspace(-2, 2, parts), name="means")
        self.scales = Parameter(mnp.ones((parts,)) * 0.5, name="scales")

    def construct(self, points):
        weights = mnp.exp(self.logits)
        weights = weights / mnp.sum(weights)
        distance = (mnp.expand_dims(points, 1) - self.means) / self.scales
        density = mnp.exp(-0.5 * mnp.square(distance)) / (self.scales * mnp.sqrt(mnp.full((1,), 2 * mnp.pi)))
        return -mnp.mean(mnp.log(mnp.sum(density * weights, axis=1) + 1e-6))


rng = np.random.default_rng(0)
points = Tensor(np.concatenate([rng.normal(-1.5, 0.3, 30), rng.normal(1.0, 0.6, 50)]).astype(np.float32))
net = Mixture(3)
step = value_and_grad(net, None, net.trainable_params())
optimizer = nn.Adam(net.trainable_params(), 0.05)
for epoch in range(30):
    loss, gradients = step(points)
    optimizer(gradients)
    if epoch % 6 == 0:
        print(f"{epoch} {float(loss.asnumpy()):.4f}")
order = np.argsort(net.means.asnumpy())
print("means", " ".join(f"{v:.3f}" for v in net.means.asnumpy()[order]))
table = mnp.concatenate((mnp.stack((net.means, net.scales)), mnp.expand_dims(net.logits, 0)), axis=0)
print(table.shape, mnp.argmax(table, axis=1), mnp.where(table > 0, mnp.ones_like(table), mnp.zeros_like(table)))
print(mnp.tile(mnp.arange(3), (2, 2)), mnp.rot90(mnp.array([[1, 2], [3, 4]])), mnp.cumsum(mnp.arange(1, 5)))
