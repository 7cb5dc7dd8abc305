import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(0)
ms.set_context(mode=ms.GRAPH_MODE)


class N(nn.Cell):
    def __init__(self):
        super().__init__()
        self.d = nn.Dense(3, 2)

    def construct(self, x):
        return ops.relu(self.d(x)).sum(0)


net = N()
net.set_inputs(Tensor(shape=[None, 3], dtype=ms.float32))
for n in (1, 4, 2):
    print(net(Tensor(np.arange(n * 3).reshape(n, 3).astype(np.float32))).asnumpy().round(4).tolist())


class U(nn.Cell):
    def __init__(self):
        super().__init__()
        self.u = ops.Unique()

    def construct(self, x):
        a, b = self.u(x)
        return a * 2, b


print([t.asnumpy().tolist() for t in U()(Tensor([3, 1, 3, 2], ms.int32))])
