"""Parameters that rank 0 gives to all, checkpoints of each rank, and an evaluation of each shard."""

import os

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Tensor, nn
from mindspore.communication import get_group_size, get_rank, init
from said import said

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
init()
ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
rank, size = get_rank(), get_group_size()
random = np.random.default_rng(1)
net = nn.Dense(
    3, 2, Tensor(random.standard_normal((2, 3)).astype(np.float32)), Tensor(np.array([0.5, -0.3], np.float32))
)
rows = random.standard_normal((8, 3)).astype(np.float32), (np.arange(8) % 2).astype(np.int32)
data = ds.NumpySlicesDataset(rows, ["x", "y"], shuffle=False, num_shards=size, shard_id=rank).batch(2)
model = ms.Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"),
                 nn.Momentum(net.trainable_params(), 0.1, 0.9), metrics={"loss", "accuracy"})  # fmt: skip
folder = f"checkpoints_{rank}"
kept = ms.ModelCheckpoint("net", folder, ms.CheckpointConfig(save_checkpoint_steps=1, keep_checkpoint_max=9))
model.train(1, data, callbacks=[kept], dataset_sink_mode=False)
names = sorted(name for name in os.listdir(folder) if name.endswith(".ckpt"))
said("files", names)
last = ms.load_checkpoint(os.path.join(folder, names[-1]))
said("kept", sorted(last), last["weight"])
said("loaded", ms.load_param_into_net(net, last))
found = model.eval(data, dataset_sink_mode=False)
said("eval", sorted(found), np.array([found[name] for name in sorted(found)], np.float32))
