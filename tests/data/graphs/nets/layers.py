"""Each layer in two cells: whose scope its operators and their gradients stand in."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ONE_OR_TWO = Tensor(np.array([1, 0], np.int64))
PLACES = Tensor(np.arange(8).reshape(2, 1, 2, 2))

#: what makes each layer, the shape of its input, and its other arguments
LAYERS = (
    (lambda: nn.GroupNorm(2, 4), (2, 4, 3, 3), ()),
    (lambda: nn.Softmin(), (2, 3), ()),
    (lambda: nn.Tanhshrink(), (2, 3), ()),
    (lambda: nn.ConstantPad1d(1, 0.5), (2, 3, 4), ()),
    (lambda: nn.ZeroPad2d(1), (2, 3, 4, 4), ()),
    (lambda: nn.ReplicationPad2d(1), (2, 3, 4, 4), ()),
    (lambda: nn.AdaptiveAvgPool1d(2), (2, 3, 4), ()),
    (lambda: nn.AdaptiveAvgPool3d(2), (2, 3, 4, 4, 4), ()),
    (lambda: nn.AdaptiveMaxPool1d(2), (2, 3, 4), ()),
    (lambda: nn.AdaptiveMaxPool2d(2), (2, 3, 4, 4), ()),
    (lambda: nn.AdaptiveMaxPool3d(2), (2, 3, 4, 4, 4), ()),
    (lambda: nn.AvgPool3d(2, 2), (2, 3, 4, 4, 4), ()),
    (lambda: nn.MaxPool3d(2, 2, pad_mode="pad", padding=1), (2, 3, 4, 4, 4), ()),
    (lambda: nn.LPPool1d(2, 2), (2, 3, 4), ()),
    (lambda: nn.LPPool2d(2, 2), (2, 3, 4, 4), ()),
    (lambda: nn.MaxUnpool2d(2), (2, 1, 2, 2), (PLACES,)),
    (lambda: nn.Norm(axis=1), (2, 3), ()),
    (lambda: nn.Tril(), (3, 3), ()),
    (lambda: nn.Triu(), (3, 3), ()),
    (lambda: nn.Threshold(0.1, 0.5), (2, 3), ()),
    (lambda: nn.GLU(), (2, 4), ()),
    (lambda: nn.ChannelShuffle(2), (2, 4, 3, 3), ()),
    (lambda: nn.Unflatten(1, (2, 2)), (2, 4), ()),
    (lambda: nn.ReduceLogSumExp(1), (2, 3), ()),
    (lambda: nn.TimeDistributed(nn.Dense(3, 4), 1, 0), (2, 4, 3), ()),
    (lambda: nn.CentralCrop(0.5), (2, 3, 6, 6), ()),
    (lambda: nn.MultiMarginLoss(), (2, 3), (ONE_OR_TWO,)),
    (lambda: nn.FocalLoss(), (2, 3), (Tensor(np.array([[1], [0]], np.int32)),)),
    (lambda: nn.PoissonNLLLoss(), (2, 3), (Tensor(np.ones((2, 3), np.float32)),)),
    (lambda: nn.L1Regularizer(0.5), (2, 3), ()),
    (lambda: nn.GaussianNLLLoss(), (2, 3), (Tensor(np.ones((2, 3), np.float32)), Tensor(np.ones((2, 3), np.float32)))),
    (lambda: nn.MSELoss(), (2, 3), (Tensor(np.ones((2, 3), np.float32)),)),
)


class Block(nn.Cell):
    """A dense layer, and the one that is looked at."""

    def __init__(self, make, width, more):
        super().__init__()
        self.lin = nn.Dense(width, width)
        self.layer = make()
        self.more = more
        self.mean = ops.ReduceMean()

    def construct(self, x):
        return self.mean(self.layer(self.lin(x), *self.more))


class Net(nn.Cell):
    """Two blocks, the second of what the first gives."""

    def __init__(self, make, width, more):
        super().__init__()
        self.first = Block(make, width, more)
        self.second = Block(make, width, more)

    def construct(self, x):
        return self.second(x * self.first(x))


for make, shape, more in LAYERS:
    net = Net(make, shape[-1], more)
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))
    step.set_train()
    step(Tensor(np.ones(shape, np.float32)))
