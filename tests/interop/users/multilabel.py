import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops, train

ms.set_seed(2)
rng = np.random.default_rng(2)
x = rng.normal(size=(40, 8)).astype(np.float32)
y = (x @ rng.normal(size=(8, 3)) > 0).astype(np.float32)


class Tags(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(nn.Dense(8, 16), nn.BatchNorm1d(16), nn.GELU(), nn.Dense(16, 3))

    def construct(self, x):
        return self.body(x)


class WithLoss(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.weight = ms.Tensor([1.0, 2.0, 0.5], ms.float32)

    def construct(self, x, y):
        logits = self.net(x)
        loss = ops.binary_cross_entropy_with_logits(logits, y, ops.ones_like(logits), self.weight)
        return loss + 0.01 * ops.sigmoid(logits).mean()


net = Tags()
schedule = nn.cosine_decay_lr(0.001, 0.05, total_step=20, step_per_epoch=4, decay_epoch=5)
decayed = [p for p in net.trainable_params() if p.name.endswith("weight")]
others = [p for p in net.trainable_params() if not p.name.endswith("weight")]
optimizer = nn.SGD(
    [{"params": decayed, "weight_decay": 0.01}, {"params": others}], learning_rate=schedule, momentum=0.9, nesterov=True
)
one_step = nn.TrainOneStepCell(WithLoss(net), optimizer)
one_step.set_train()
data = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=False).batch(10)
for epoch in range(5):
    losses = [float(one_step(a, b).asnumpy()) for a, b in data.create_tuple_iterator()]
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")
net.set_train(False)
metrics = {"accuracy": train.Accuracy("multilabel"), "precision": train.Precision("multilabel"),
           "recall": train.Recall("multilabel")}  # fmt: skip
for a, b in data.create_tuple_iterator():
    tags = (ops.sigmoid(net(a)) > 0.5).astype(ms.int32)
    for metric in metrics.values():
        metric.update(tags, b.astype(ms.int32))
print({name: round(float(np.mean(metric.eval())), 4) for name, metric in metrics.items()})
print(ops.count_nonzero(tags), tags.sum(0))
