import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import XavierUniform, initializer

ms.set_seed(2022)
np.random.seed(2022)


class SAGEConv(nn.Cell):
    """mean or pool aggregation over an edge list"""

    def __init__(self, fin, fout, agg="mean", act=None):
        super().__init__()
        self.agg = agg
        self.w_self = Parameter(initializer(XavierUniform(), [fin, fout], ms.float32), name="w_self")
        self.w_nbr = Parameter(initializer(XavierUniform(), [fin, fout], ms.float32), name="w_nbr")
        self.bias = Parameter(initializer("zeros", [fout], ms.float32), name="bias")
        if agg == "pool":
            self.fc = nn.Dense(fin, fin, activation="relu")
        self.act = act

    def construct(self, x, src, dst, n):
        h = x
        if self.agg == "pool":
            h = self.fc(h)
        msg = ops.gather(h, src, 0)
        if self.agg == "pool":
            nb = ops.unsorted_segment_max(msg, dst, n)
            nb = ops.select(nb < -1e30, ops.zeros_like(nb), nb)
        else:
            deg = ops.unsorted_segment_sum(ops.ones((src.shape[0], 1), ms.float32), dst, n)
            nb = ops.unsorted_segment_sum(msg, dst, n) / ops.maximum(deg, Tensor(1.0))
        out = ops.matmul(x, self.w_self) + ops.matmul(nb, self.w_nbr) + self.bias
        if self.act is not None:
            out = self.act(out)
        return ops.L2Normalize(axis=-1)(out)


class Net(nn.Cell):
    def __init__(self, n):
        super().__init__()
        self.n = n
        self.l1 = SAGEConv(6, 8, "mean", nn.ELU())
        self.l2 = SAGEConv(8, 8, "pool", ops.relu)
        self.out = nn.Dense(8, 3)

    def construct(self, x, src, dst):
        x = self.l1(x, src, dst, self.n)
        x = self.l2(x, src, dst, self.n)
        return self.out(x)


class LossNet(nn.Cell):
    def __init__(self, net, idx):
        super().__init__(auto_prefix=False)
        self.net = net
        self.idx = Tensor(idx, ms.int32)
        self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="none")

    def construct(self, x, src, dst, y):
        logits = self.net(x, src, dst)
        loss = self.loss(logits[self.idx], y[self.idx])
        return loss.mean()


N, E = 10, 30
x = Tensor(np.random.randn(N, 6).astype("float32"))
src = Tensor(np.random.randint(0, N, E).astype("int32"))
dst = Tensor(np.random.randint(0, N, E).astype("int32"))
y = Tensor(np.random.randint(0, 3, N).astype("int32"))
net = Net(N)
lossnet = LossNet(net, [0, 2, 4, 5, 7])
opt = nn.Adam(params=net.trainable_params(), learning_rate=0.02, weight_decay=5e-4)
trainer = nn.TrainOneStepCell(lossnet, opt)
for epoch in range(3):
    trainer.set_train()
    print(f"epoch {epoch} loss {float(trainer(x, src, dst, y)):.5f}")
net.set_train(False)
logits = net(x, src, dst)
acc = (logits.argmax(1) == y).astype(ms.float32).mean()
print("acc", acc)
for p in net.trainable_params():
    print(p.name, p.shape)
