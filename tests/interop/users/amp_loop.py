import mindspore as ms
import numpy as np
from mindspore import Tensor, amp, nn

ms.set_seed(0)
net = nn.SequentialCell(
    nn.Conv2d(1, 4, 3),
    nn.BatchNorm2d(4),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1) if False else nn.Flatten(),
    nn.Dense(64, 3),
)
net = amp.auto_mixed_precision(net, "O2")
ce = nn.CrossEntropyLoss()
opt = nn.SGD(net.trainable_params(), 0.01)
sc = amp.DynamicLossScaler(1024, 2, 2)


def f(x, y):
    return sc.scale(ce(net(x), y))


g = ms.value_and_grad(f, None, opt.parameters)
r = np.random.RandomState(0)
x = Tensor(r.randn(4, 1, 4, 4).astype(np.float32))
y = Tensor(np.array([0, 1, 2, 0]), ms.int32)
for _ in range(3):
    loss_value, gr = g(x, y)
    gr = sc.unscale(gr)
    ok = amp.all_finite(gr)
    if ok:
        opt(gr)
    sc.adjust(ok)
    print(f"{float(loss_value / sc.scale_value):.2f}", float(sc.scale_value.asnumpy()))
