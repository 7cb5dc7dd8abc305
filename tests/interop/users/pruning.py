import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common import initializer as init

ms.set_seed(21)


class PrunedDense(nn.Cell):
    def __init__(self, i, o):
        super().__init__()
        self.weight = Parameter(init.initializer(init.Orthogonal(gain=1.0), [o, i]), name="weight")
        self.bias = Parameter(init.initializer("zeros", [o]), name="bias")
        self.mask = Parameter(Tensor(np.ones((o, i)), ms.float32), name="mask", requires_grad=False)

    def construct(self, x):
        return ops.matmul(x, (self.weight * self.mask).T) + self.bias

    def prune(self, frac):
        w = (self.weight * self.mask).abs()
        k = int(frac * w.size)
        if k == 0:
            return
        thr = w.flatten().sort()[0][k - 1]
        self.mask.set_data(ops.cast(w > thr, ms.float32))

    def extend_repr(self):
        return f"sparsity={1 - self.mask.mean().item():.2f}"


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = (
            nn.CellDict({"a": PrunedDense(6, 10), "act": nn.ELU(), "b": PrunedDense(10, 3)})
            if hasattr(nn, "CellDict")
            else None
        )

    def construct(self, x):
        for value in self.layers.values():
            x = value(x)
        return x


net = Net()
print(net)
print([(n, p.requires_grad) for n, p in net.parameters_and_names()])
print([n for n, c in net.cells_and_names()])
print(ops.matmul(net.layers["a"].weight.T, net.layers["a"].weight).diagonal())
rng = np.random.RandomState(2)
x, y = (Tensor(rng.randn(30, 6), ms.float32), Tensor(rng.randint(0, 3, 30), ms.int32))
lf = nn.CrossEntropyLoss()
opt = nn.RMSProp(net.trainable_params(), 0.01, decay=0.9, momentum=0.5, centered=True)
vg = ms.value_and_grad(lambda x, y: lf(net(x), y), None, opt.parameters, has_aux=False)
for e in range(4):
    for _s in range(2):
        value, g = vg(x, y)
        opt(g)
    for c in net.layers.values():
        if isinstance(c, PrunedDense):
            c.prune(0.2 * e)
    nz = {n: int((p.asnumpy() == 0).sum()) for n, p in net.parameters_and_names() if n.endswith("mask")}
    print(e, f"{value.asnumpy():.5f}", nz)
print(net)
net.layers.update({"c": nn.Dense(3, 3, weight_init="ones")})
print(list(net.layers.keys()), len(net.layers), "c" in net.layers)
del net.layers["c"]
print(net.layers.pop("act"), next(iter(net.layers.items()))[0])
for i in (
    init.Normal(0.1),
    init.XavierNormal(),
    init.HeUniform(negative_slope=1),
    init.Sparse(0.5),
    init.Dirac(),
    init.Identity(),
    init.VarianceScaling(1.0, "fan_avg", "uniform"),
    init.TruncatedNormal(0.02),
):
    shape = [4, 4, 3] if isinstance(i, init.Dirac) else [4, 4]
    try:
        t = init.initializer(i, shape, ms.float32).init_data()
        print(type(i).__name__, t.shape, t.asnumpy().ravel()[:4].round(5))
    except Exception as e:
        print(type(i).__name__, "raises", next(c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins"))
