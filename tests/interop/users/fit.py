"""Model.fit with a dataset from a generator, a callback of one's own, metrics and early stopping."""

import mindspore as ms
import numpy as np
from mindspore import dataset as ds
from mindspore import nn
from mindspore.train import Callback, LossMonitor, Model

ms.set_seed(9)
np.random.seed(9)


class Points:
    def __init__(self, n, seed):
        r = np.random.RandomState(seed)
        self.x = r.randn(n, 2).astype(np.float32)
        self.y = (self.x.sum(1) > 0).astype(np.int32)

    def __getitem__(self, i):
        return self.x[i], self.y[i]

    def __len__(self):
        return len(self.x)


class Remember(Callback):
    def __init__(self):
        super().__init__()
        self.losses = []

    def on_train_step_end(self, run_context):
        p = run_context.original_args()
        self.losses.append(round(float(np.mean(p.net_outputs.asnumpy())), 4))

    def on_train_epoch_end(self, run_context):
        p = run_context.original_args()
        print("epoch", p.cur_epoch_num, "of", p.epoch_num, "steps", p.cur_step_num, "batches", p.batch_num)


train = ds.GeneratorDataset(Points(24, 0), ["x", "y"], shuffle=False).batch(8)
test = ds.GeneratorDataset(Points(12, 1), ["x", "y"], shuffle=False).batch(6)
net = nn.SequentialCell(nn.Dense(2, 4), nn.Tanh(), nn.Dense(4, 2))
model = Model(
    net,
    nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"),
    nn.Momentum(net.trainable_params(), 0.2, 0.9),
    metrics={"acc": nn.Accuracy(), "loss": nn.Loss()},
)
remember = Remember()
model.train(3, train, callbacks=[remember, LossMonitor(2)], dataset_sink_mode=False)
print(remember.losses)
result = model.eval(test, dataset_sink_mode=False)
print({k: round(float(v), 4) for k, v in sorted(result.items())})
print(model.predict(ms.Tensor(Points(3, 2).x)).asnumpy().round(4).tolist())
