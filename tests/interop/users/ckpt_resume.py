"""Checkpoints with the optimizer's state: train, save, go on in a new network, compare."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_seed(13)


def build():
    net = nn.SequentialCell([nn.Dense(3, 4), nn.Sigmoid(), nn.Dense(4, 1)])
    opt = nn.Adam(net.trainable_params(), learning_rate=0.05)
    return net, opt, nn.TrainOneStepCell(nn.WithLossCell(net, nn.L1Loss()), opt).set_train()


r = np.random.RandomState(0)
x, y = Tensor(r.randn(5, 3), ms.float32), Tensor(r.randn(5, 1), ms.float32)
net, opt, step = build()
for _ in range(3):
    print(f"{float(step(x, y).asnumpy()):.5f}")
ms.save_checkpoint(step, "state.ckpt", append_dict={"epoch": 3, "lr": 0.05, "note": "first"})
after = [f"{float(step(x, y).asnumpy()):.5f}" for _ in range(2)]
state = ms.load_checkpoint("state.ckpt")
print(sorted(state)[:4])
other, opt2, step2 = build()
missing, extra = ms.load_param_into_net(step2, state)
print(missing, sorted(extra))
again = [f"{float(step2(x, y).asnumpy()):.5f}" for _ in range(2)]
print(after, again, after == again)
