"""Data-parallel training by ``Model.train`` on a sharded dataset."""

import sys

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Tensor, nn
from mindspore.communication import get_group_size, get_rank, init

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
init()
ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean="mean" in sys.argv)
random = np.random.default_rng(0)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(4, 5, weight_init=Tensor(random.standard_normal((5, 4)).astype(np.float32)))
        self.relu = nn.ReLU()
        self.second = nn.Dense(5, 3, weight_init=Tensor(random.standard_normal((3, 5)).astype(np.float32)))
        for layer in (self.first, self.second):
            layer.bias.set_data(Tensor(np.zeros(layer.bias.shape, np.float32)))

    def construct(self, x):
        return self.second(self.relu(self.first(x)))


net = Net()
rows = random.standard_normal((8, 4)).astype(np.float32), (np.arange(8) % 3).astype(np.int32)
data = ds.NumpySlicesDataset(rows, ["x", "y"], shuffle=False, num_shards=get_group_size(), shard_id=get_rank())
weights = net.trainable_params()
optimizer = nn.Adam(weights, 0.01) if "adam" in sys.argv else nn.Momentum(weights, 0.1, 0.9)
model = ms.Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"), optimizer)
model.train(2, data.batch(2), dataset_sink_mode=False)
