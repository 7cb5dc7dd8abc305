"""A learning rate search, then warm restarts by a list; evaluation with several metrics; freezing by layer."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import (
    Accuracy,
    Callback,
    LearningRateScheduler,
    LossMonitor,
    Model,
    Precision,
    Recall,
    TopKCategoricalAccuracy,
)

ms.set_seed(15)
np.random.seed(15)
x = np.random.randn(24, 6).astype(np.float32)
y = (x[:, :3].argmax(1)).astype(np.int32)


def make(n):
    return ds.NumpySlicesDataset({"x": x[:n], "y": y[:n]}, shuffle=False).batch(6)


def net():
    return nn.SequentialCell(nn.Dense(6, 12), nn.LayerNorm((12,)), nn.ReLU6(), nn.Dense(12, 3))


class Finder(Callback):
    def __init__(self):
        self.rates, self.losses = [], []

    def on_train_step_end(self, run_context):
        p = run_context.original_args()
        self.losses.append(float(p.net_outputs.asnumpy()))
        self.rates.append(float(p.optimizer.learning_rate.data.asnumpy()))


def double(lr, step):
    return lr * 2.0


a = net()
finder = Finder()
model = Model(a, nn.CrossEntropyLoss(), nn.SGD(a.trainable_params(), 1e-3))
model.train(1, make(24), callbacks=[LearningRateScheduler(double), finder], dataset_sink_mode=False)
print([f"{r:.4f}" for r in finder.rates], [f"{v:.4f}" for v in finder.losses])
b = net()
for name, p in b.parameters_and_names():
    if name.startswith("1."):
        p.requires_grad = False
rates = nn.cosine_decay_lr(0.001, 0.05, 4, 4, 1) + nn.cosine_decay_lr(0.001, 0.02, 4, 4, 1)
opt = nn.Momentum(b.trainable_params(), rates, 0.9, weight_decay=1e-3, use_nesterov=True)
model = Model(
    b,
    nn.CrossEntropyLoss(),
    opt,
    metrics={"acc": Accuracy(), "top2": TopKCategoricalAccuracy(2), "prec": Precision(), "rec": Recall()},
)
model.train(2, make(24), callbacks=[LossMonitor(4)], dataset_sink_mode=False)
r = model.eval(make(12), dataset_sink_mode=False)
for k in sorted(r):
    print(k, np.round(r[k], 4))
print(len(b.trainable_params()), [f"{v:.5f}" for v in rates])
