import math

import mindspore as ms
import mindspore.dataset as ds
import mindspore.nn as nn
import mindspore.ops as ops
import numpy as np
from mindspore.common.initializer import HeUniform, Uniform

ms.set_seed(1234)
np.random.seed(1234)

words = ["the", "movie", "was", "good", "bad", "great", "awful", "not", "very", "plot", "actor", "fun", "boring"]
vocab = ds.text.Vocab.from_list(words, special_tokens=["<pad>", "<unk>"])
samples = [
    ("the movie was very good", 1),
    ("the plot was not good", 0),
    ("great fun", 1),
    ("boring awful actor", 0),
    ("the actor was great", 1),
    ("very bad plot", 0),
]


class Source:
    def __iter__(self):
        for t, label in samples:
            yield np.array(t.split()), np.float32(label)


lookup = ds.text.Lookup(vocab, unknown_token="<unk>")
pad = ds.transforms.PadEnd([6], pad_value=vocab.tokens_to_ids("<pad>"))
data = ds.GeneratorDataset(Source(), ["text", "label"], shuffle=False)
data = data.map([lookup, pad], input_columns=["text"]).batch(3)


class RNN(nn.Cell):
    def __init__(self, vocab_size, emb, hid, n_layers):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb, padding_idx=0)
        self.rnn = nn.LSTM(emb, hid, num_layers=n_layers, bidirectional=True, batch_first=True)
        weight_init = HeUniform(math.sqrt(5))
        bias_init = Uniform(1 / math.sqrt(hid * 2))
        self.fc = nn.Dense(hid * 2, 1, weight_init=weight_init, bias_init=bias_init)

    def construct(self, inputs):
        embedded = self.embedding(inputs)
        _, (hidden, _) = self.rnn(embedded)
        hidden = ops.concat((hidden[-2, :, :], hidden[-1, :, :]), axis=1)
        return self.fc(hidden)


model = RNN(len(vocab.vocab()), 5, 4, 2)
loss_fn = nn.BCEWithLogitsLoss(reduction="mean")
optimizer = nn.Adam(model.trainable_params(), learning_rate=0.01)


def forward_fn(data, label):
    logits = model(data).squeeze()
    return loss_fn(logits, label)


grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)


def train_step(data, label):
    loss, grads = grad_fn(data, label)
    optimizer(grads)
    return loss


def binary_accuracy(preds, y):
    rounded = np.around(ops.sigmoid(preds).asnumpy())
    return (rounded == y).astype(np.float32).mean()


for _epoch in range(2):
    model.set_train()
    for x, y in data.create_tuple_iterator():
        print("loss", f"{float(train_step(x, y)):.4f}")
model.set_train(False)
for x, y in data.create_tuple_iterator():
    print(binary_accuracy(model(x).squeeze(), y.asnumpy()))
