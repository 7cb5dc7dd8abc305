import os

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.train import (
    F1,
    ROC,
    Accuracy,
    Callback,
    CosineSimilarity,
    Model,
    Precision,
    Recall,
    TopKCategoricalAccuracy,
    auc,
)

ms.set_seed(30)
np.random.seed(30)
ds.config.set_seed(30)
X = np.random.randn(60, 4).astype(np.float32)
Y = (X.sum(1) > 0).astype(np.int32) + (X[:, 0] > 1).astype(np.int32)
hard = np.argsort(np.abs(X.sum(1)))[::-1].copy()


class Curriculum(ds.Sampler):
    def __init__(self, order, frac):
        super().__init__()
        self.order, self.frac = (order, frac)

    def __iter__(self):
        for i in self.order[: int(len(self.order) * self.frac)]:
            yield int(i)


class Src:
    def __getitem__(self, i):
        return (X[i], Y[i])

    def __len__(self):
        return len(X)


class Best(Callback):
    def __init__(self, model, data, path):
        super().__init__()
        self.model, self.data, self.path, self.best, self.log = (model, data, path, -1.0, [])

    def on_train_epoch_end(self, rc):
        p = rc.original_args()
        r = self.model.eval(self.data, dataset_sink_mode=False)
        self.log.append(round(float(r["acc"]), 4))
        if r["acc"] > self.best:
            self.best = r["acc"]
            ms.save_checkpoint(p.train_network, self.path)
        if len(self.log) > 2 and self.log[-1] <= self.log[-3]:
            rc.request_stop()


net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 3))
w = Tensor(len(Y) / (3 * np.bincount(Y, minlength=3)), ms.float32)
loss = nn.CrossEntropyLoss(weight=w, reduction="mean")
opt = nn.Momentum(net.trainable_params(), nn.CosineDecayLR(0.01, 0.1, 30), 0.9)
model = Model(
    net,
    loss,
    opt,
    metrics={"acc": Accuracy("classification"), "recall": Recall(), "f1": F1(), "precision": Precision()},
)
val = ds.GeneratorDataset(Src(), ["x", "y"], shuffle=False).batch(20)
for frac in (0.3, 0.6, 1.0):
    tr = ds.GeneratorDataset(Src(), ["x", "y"], sampler=Curriculum(hard, frac)).batch(9, drop_remainder=False)
    print(
        frac,
        tr.get_dataset_size(),
        [int(r[1].sum()) for r in tr.create_tuple_iterator(num_epochs=1, output_numpy=True)][:3],
    )
    cb = Best(model, val, "best.ckpt")
    model.train(3, tr, callbacks=[cb], dataset_sink_mode=False)
    print(cb.log, opt.global_step.asnumpy())
r = model.eval(val)
print({k: np.round(np.asarray(v, np.float64), 4).tolist() for k, v in r.items()})
print(sorted(ms.load_checkpoint("best.ckpt"))[:3], os.path.exists("best.ckpt"))
t = TopKCategoricalAccuracy(2)
t.clear()
t.update(net(Tensor(X)), Tensor(Y))
print(round(float(t.eval()), 4))
roc = ROC(pos_label=1)
roc.clear()
p = ops.softmax(net(Tensor(X)), -1)[:, 1]
roc.update(p, Tensor((Y == 1).astype(np.int32)))
fpr, tpr, th = roc.eval()
print(len(fpr), round(float(auc(fpr, tpr)), 4))
c = CosineSimilarity()
c.clear()
c.update(X[:3])
print(np.round(c.eval(), 4))


class Noisy(nn.TrainOneStepCell):
    def construct(self, *inputs):
        value = self.network(*inputs)
        g = self.grad(self.network, self.weights)(*inputs, ops.fill(value.dtype, value.shape, self.sens))
        g = tuple(x + 0.001 for x in g)
        return ops.depend(value, self.optimizer(g))


st = Noisy(nn.WithLossCell(net, loss), nn.SGD(net.trainable_params(), 0.01))
st.set_train()
print(st(Tensor(X), Tensor(Y)), st(Tensor(X), Tensor(Y)))
print(st.sens, len(st.weights), type(st.optimizer).__name__)
