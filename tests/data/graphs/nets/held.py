"""Functions that are a cell made at each call; constants of two shapes; primitives that a function makes."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore import numpy as mnp

ms.set_context(mode=ms.GRAPH_MODE)
rng = np.random.default_rng(1)
x = Tensor(rng.standard_normal((3, 4)).astype(np.float32))
half = Tensor(rng.standard_normal(2).astype(np.float16))

for bound in (0.5, 1.0):
    ops.clip_by_global_norm((x, half), bound)
ops.clip_by_global_norm([x, x * 2], clip_norm=2)


class Product(nn.Cell):
    def construct(self, x):
        return ops.square(x[0] * x[1])


class Less(nn.Cell):
    def construct(self, x):
        return ops.square((x[0] < x[1]).astype(ms.float32))


for cell in (Product(), Less()):
    for other in ([1.5], 2.5, np.ones((3, 4))):
        cell((x, Tensor(np.asarray(other, np.float32))))


class Net(nn.Cell):
    def __init__(self, what):
        super().__init__()
        self.what = what
        self.dense = nn.Dense(4, 4, weight_init="ones", bias_init="zeros")
        self.weight = Parameter(Tensor(np.ones((4, 4), np.float32)), name="weight")

    def construct(self, x):
        hidden = self.dense(x)
        if self.what == 0:
            return ops.tensor_dot(hidden, hidden, (0, 0)).mean() + hidden.sum()
        if self.what == 1:
            return ops.tensor_dot(hidden.reshape(3, 2, 2), self.weight.reshape(2, 2, 4), 2).sum()
        return (ops.dropout(hidden, 0.2) * hidden).sum()


ms.set_seed(1)
for what in range(3):
    net = Net(what)
    nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))(x)

lost = Tensor(np.array([[1, np.nan, 3], [2, 5, np.nan]], np.float32))
ops.nanmean(lost)
lost.nanmean(1)
ops.nanmean(lost, axis=0, keepdims=True)
mnp.unique(Tensor([[3, 1], [2, 1]]))
mnp.unique(Tensor([3, 1, 1, 2]), return_inverse=True)


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(4, 3, batch_first=True)

    def construct(self, x):
        return self.rnn(x.expand_dims(1))[0].sum()


net = Recurrent()
nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))(x)
