import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.dataset import vision

ms.set_seed(6)
np.random.seed(6)


class Triplets:
    def __init__(self, n):
        self.x = np.random.randint(0, 255, (n, 3, 6, 6, 3)).astype(np.uint8)

    def __getitem__(self, i):
        return self.x[i, 0], self.x[i, 1], self.x[i, 2]

    def __len__(self):
        return len(self.x)


cols = ["a", "p", "n"]
loader = ds.GeneratorDataset(Triplets(8), cols, shuffle=False)
for c in cols:
    loader = loader.map(
        [vision.Rescale(1 / 255.0, 0), vision.Normalize([0.5] * 3, [0.25] * 3), vision.HWC2CHW()], input_columns=c
    )
loader = loader.batch(4)


class Embed(nn.Cell):
    def __init__(self, dim=6):
        super().__init__()
        self.features = nn.SequentialCell(
            nn.Conv2d(3, 6, 3, pad_mode="pad", padding=1, has_bias=True),
            nn.GroupNorm(3, 6),
            nn.PReLU(6),
            nn.MaxPool2d(kernel_size=2, stride=2),
        )
        self.fc = nn.Dense(54, dim)

    def construct(self, x):
        x = self.features(x)
        x = self.fc(x.flatten(start_dim=1))
        return x / ops.norm(x, dim=1, keepdim=True)


class TripletNet(nn.Cell):
    def __init__(self, embed, margin=0.3):
        super().__init__()
        self.embed = embed
        self.margin = margin

    def construct(self, a, p, n):
        ea, ep, en = self.embed(a), self.embed(p), self.embed(n)
        dp = ops.sqrt(((ea - ep) ** 2).sum(axis=1) + 1e-8)
        dn = ops.sqrt(((ea - en) ** 2).sum(axis=1) + 1e-8)
        return ops.maximum(dp - dn + self.margin, ops.zeros_like(dp)).mean()


net = TripletNet(Embed())
opt = nn.Adagrad(net.trainable_params(), learning_rate=0.05)
train = nn.TrainOneStepCell(net, opt)
train.set_train(True)
for epoch in range(2):
    tot = 0.0
    for row in loader.create_dict_iterator():
        loss = train(row["a"], row["p"], row["n"])
        tot += float(loss.asnumpy())
    print(f"epoch {epoch} loss {tot / loader.get_dataset_size():.4f}")
emb = net.embed(Tensor(np.random.rand(2, 3, 6, 6), ms.float32))
print(ops.cosine_similarity(emb[0], emb[1], dim=0).shape)
