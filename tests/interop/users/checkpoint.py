import os
import tempfile

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Model, Tensor, nn
from mindspore.train.callback import CheckpointConfig, ModelCheckpoint
from mindspore.train.serialization import load_checkpoint, load_param_into_net

ms.set_seed(0)
r = np.random.RandomState(0)
X = r.randn(8, 3).astype(np.float32)
Y = r.randn(8, 2).astype(np.float32)
net = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2))
m = Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9), metrics={"mae"}, amp_level="O3")
d = tempfile.mkdtemp()
data = ds.NumpySlicesDataset((X, Y), ["x", "y"], shuffle=False).batch(4)
m.train(
    2, data, callbacks=[ModelCheckpoint("n", d, CheckpointConfig(save_checkpoint_steps=2))], dataset_sink_mode=False
)
print(sorted(f for f in os.listdir(d) if f.endswith(".ckpt")))
p = load_checkpoint(os.path.join(d, "n-2_2.ckpt"))
print([(k, v.shape) for k, v in sorted(p.items())])
n2 = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2))
print(load_param_into_net(n2, p)[0])
print(np.allclose(n2(Tensor(X)).asnumpy(), net(Tensor(X)).asnumpy(), atol=2e-2))
