"""A convolution and BatchNorm on each rank's own rows, with a loss scale; what a CPU has of dynamic ones."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Tensor, nn
from mindspore.communication import get_group_size, get_rank, init
from said import said, tried

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
init()
ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
rank, size = get_rank(), get_group_size()
random = np.random.default_rng(5)
net = nn.SequentialCell(
    nn.Conv2d(1, 2, 3, weight_init="ones"), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Dense(32, 2, "ones", "zeros")
)
loss, optimizer = nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.01, 0.9, loss_scale=1024.0)
manager = ms.FixedLossScaleManager(1024.0, drop_overflow_update=False)
rows = [random.standard_normal((8, *shape)).astype(np.float32) for shape in ((1, 4, 4), (2,))]
data = ds.NumpySlicesDataset(tuple(rows), ["x", "y"], shuffle=False, num_shards=size, shard_id=rank).batch(2)
ms.Model(net, loss, optimizer, loss_scale_manager=manager).train(1, data, dataset_sink_mode=False)
said("moving mean", net[1].moving_mean)
dynamic = nn.TrainOneStepWithLossScaleCell(nn.WithLossCell(net, loss), optimizer, Tensor(1024.0))
tried("dynamic", lambda: dynamic(*(Tensor(each[:2]) for each in rows)))
