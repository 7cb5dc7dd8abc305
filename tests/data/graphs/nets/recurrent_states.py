"""Last states of recurrent layers between ``Dense``: which gives its scope to the gradients of what both hold."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE)
rng = np.random.default_rng(7)


class States(nn.Cell):
    def __init__(self, layer):
        super().__init__()
        self.first, self.layer, self.last = nn.Dense(4, 4), layer, nn.Dense(4, 3)

    def construct(self, x):
        state = self.layer(self.first(x))[1]
        return self.last(state[-1])


x = Tensor(rng.standard_normal((2, 2, 4)).astype(np.float32))
for net in (States(nn.GRU(4, 4, 2, batch_first=True)), States(nn.RNN(4, 4, 2))):
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
    step.set_train()(x, Tensor(np.ones((2, 3), np.float32)))
