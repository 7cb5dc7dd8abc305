import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops
from mindspore.dataset import transforms

ms.set_seed(11)


class Sentences:
    """Sequences of different lengths, with a label each."""

    def __init__(self, count):
        rng = np.random.default_rng(5)
        self.rows = [rng.integers(1, 20, rng.integers(3, 9)).astype(np.int32) for _ in range(count)]
        self.labels = [np.int32(row.sum() % 2) for row in self.rows]

    def __getitem__(self, index):
        return self.rows[index], self.labels[index]

    def __len__(self):
        return len(self.rows)


def padded(tokens, labels, info):
    longest = max(len(row) for row in tokens)
    filled = [np.pad(row, (0, longest - len(row))) for row in tokens]
    lengths = [np.int32(len(row)) for row in tokens]
    return filled, labels, lengths


def pipeline(count):
    data = ds.GeneratorDataset(Sentences(count), ["tokens", "label"], shuffle=False)
    data = data.filter(lambda tokens, label: len(tokens) > 3)
    data = data.map([lambda row: row[::-1].copy(), transforms.TypeCast(ms.int32)], ["tokens"])
    return data.batch(4, per_batch_map=padded, output_columns=["tokens", "label", "length"], drop_remainder=True)


class Bag(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(20, 8)
        self.head = nn.Dense(8, 2)

    def construct(self, tokens, length):
        mask = (tokens > 0).astype(ms.float32).expand_dims(-1)
        return self.head((self.table(tokens) * mask).sum(1) / length.astype(ms.float32).expand_dims(-1))


net = Bag()
loss_of = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = nn.AdamWeightDecay(net.trainable_params(), 0.02, weight_decay=0.01)
step = ms.value_and_grad(lambda t, n, y: loss_of(net(t, n), y), None, optimizer.parameters)
data = pipeline(25)
print(data.get_dataset_size(), data.get_col_names())
for epoch in range(3):
    total = 0.0
    for tokens, label, length in data.create_tuple_iterator():
        loss, gradients = step(tokens, length, label)
        optimizer(ops.clip_by_global_norm(gradients, 1.0))
        total += float(loss.asnumpy())
        if epoch == 0:
            print(tokens.shape, label.asnumpy().tolist(), length.asnumpy().tolist())
    print(f"epoch {epoch} loss {total:.4f}")
repeated = ds.NumpySlicesDataset(list(range(7)), ["n"], shuffle=False).repeat(2).skip(3).take(6).batch(2)
print([row["n"].asnumpy().tolist() for row in repeated.create_dict_iterator()])
left = ds.NumpySlicesDataset([1, 2, 3], ["a"], shuffle=False)
right = ds.NumpySlicesDataset([4, 5, 6], ["b"], shuffle=False)
print([[int(v.asnumpy()) for v in row] for row in ds.zip((left, right)).create_tuple_iterator()])
