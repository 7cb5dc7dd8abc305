import mindspore as ms
import mindspore.nn as nn
import numpy as np
from mindspore import Tensor, ops
from mindspore.nn.learning_rate_schedule import LearningRateSchedule, PolynomialDecayLR, WarmUpLR
from mindspore.ops import composite as C
from mindspore.ops import functional as F
from mindspore.ops import operations as P

_lamb = C.MultitypeFuncGraph("my_lamb")


@_lamb.register("Tensor", "Tensor", "Tensor", "Tensor", "Tensor", "Tensor", "Tensor", "Tensor", "Number")
def _update(beta1, beta2, eps, lr, w, m, v, g, wd):
    next_m = beta1 * m + (1 - beta1) * g
    next_v = beta2 * v + (1 - beta2) * F.square(g)
    upd = next_m / (F.sqrt(next_v) + eps) + wd * w
    wn = F.sqrt(F.reduce_sum(F.square(w)))
    un = P.Sqrt()(P.ReduceSum()(P.Square()(upd)))
    ratio = P.Select()(F.logical_and(wn > 0, un > 0), wn / un, P.OnesLike()(wn))
    w = F.depend(w, F.assign(w, w - lr * ratio * upd))
    w = F.depend(w, F.assign(m, next_m))
    w = F.depend(w, F.assign(v, next_v))
    return w


class MyLamb(nn.Optimizer):
    def __init__(self, params, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-06, weight_decay=0.01):
        super().__init__(learning_rate, params, weight_decay)
        self.beta1 = Tensor(beta1, ms.float32)
        self.beta2 = Tensor(beta2, ms.float32)
        self.eps = Tensor(eps, ms.float32)
        self.m = self.parameters.clone(prefix="lamb_m", init="zeros")
        self.v = self.parameters.clone(prefix="lamb_v", init="zeros")
        self.hyper_map = C.HyperMap()
        self.wd = weight_decay

    def construct(self, gradients):
        lr = self.get_lr()
        self.assignadd(self.global_step, self.global_step_increase_tensor)
        return self.hyper_map(
            F.partial(_lamb, self.beta1, self.beta2, self.eps, lr),
            self.parameters,
            self.m,
            self.v,
            gradients,
            (self.wd,) * len(self.parameters),
        )


class CosineRestart(LearningRateSchedule):
    def __init__(self, base, period):
        super().__init__()
        self.base = base
        self.period = period
        self.cos = P.Cos()

    def construct(self, global_step):
        t = F.cast(global_step, ms.float32) % self.period
        return self.base * 0.5 * (1 + self.cos(t / self.period * 3.14159265))


class Lookahead:
    def __init__(self, opt, k=3, alpha=0.5):
        self.opt, self.k, self.alpha, self.n = (opt, k, alpha, 0)
        self.slow = opt.parameters.clone("slow")

    def __call__(self, grads):
        self.opt(grads)
        self.n += 1
        if self.n % self.k == 0:
            for s, f in zip(self.slow, self.opt.parameters, strict=False):
                s.set_data(s + self.alpha * (f - s))
                ops.assign(f, s * 1.0)


ms.set_seed(9)
net = nn.SequentialCell([nn.Dense(6, 8), nn.LayerNorm((8,)), nn.LeakyReLU(0.1), nn.Dense(8, 1)])
rng = np.random.RandomState(1)
x, y = (Tensor(rng.rand(16, 6).astype("float32")), Tensor(rng.rand(16, 1).astype("float32")))
crit = nn.L1Loss()


def fwd(x, y):
    return crit(net(x), y)


lamb = MyLamb(net.trainable_params(), CosineRestart(0.02, 5))
vg = ops.value_and_grad(fwd, None, lamb.parameters)
for i in range(7):
    value, g = vg(x, y)
    lamb(g)
    print(i, f"{value.asnumpy():.5f}", lamb.global_step.asnumpy(), f"{float(lamb.get_lr().asnumpy()):.5f}")
print([p.name for p in lamb.m][:3], [p.name for p in lamb.get_parameters()][:4])
look = Lookahead(nn.Momentum(net.trainable_params(), WarmUpLR(0.05, 3), 0.9, use_nesterov=True))
for i in range(7):
    value, g = vg(x, y)
    look(g)
    print(i, f"{value.asnumpy():.5f}")
print([s.name for s in look.slow])
poly = PolynomialDecayLR(0.1, 0.01, 4, 2.0)
print([round(float(poly(Tensor(i, ms.int32))), 5) for i in range(6)])
native = nn.AdamWeightDecay(net.trainable_params(), learning_rate=0.01)
tr = nn.TrainOneStepCell(nn.WithLossCell(net, crit), native)
tr.set_train()
for _ in range(3):
    print(tr(x, y))
