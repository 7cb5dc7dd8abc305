"""A language model of two LSTM layers, gradients clipped by their global norm."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.common.initializer import Uniform, initializer

ms.set_seed(5)


class LM(nn.Cell):
    def __init__(self, vocab=17, size=6):
        super().__init__()
        self.embedding = nn.Embedding(vocab, size, embedding_table=Uniform(0.1))
        self.lstm = nn.LSTM(size, size, num_layers=2, batch_first=True)
        self.drop = nn.Dropout(p=0.0)
        self.bias = ms.Parameter(initializer("zeros", (vocab,)), name="b")

    def construct(self, x, h, c):
        y, (h, c) = self.lstm(self.drop(self.embedding(x)), (h, c))
        logits = ops.matmul(y, self.embedding.embedding_table.T) + self.bias
        return logits, h, c


net = LM()
net.set_train()
criterion = nn.CrossEntropyLoss()
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.5)


def forward(x, y, h, c):
    logits, h, c = net(x, h, c)
    return criterion(logits.view(-1, 17), y.view(-1)), h, c


grad = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)
r = np.random.RandomState(1)
data = r.randint(0, 17, (2, 16))
h = c = ops.zeros((2, 2, 6), ms.float32)
for i in range(0, 12, 4):
    x, y = Tensor(data[:, i : i + 4], ms.int32), Tensor(data[:, i + 1 : i + 5], ms.int32)
    (loss, h, c), grads = grad(x, y, h, c)
    grads = ops.clip_by_global_norm(grads, 0.25)
    optimizer(grads)
    h, c = ops.stop_gradient(h), ops.stop_gradient(c)
    print(f"perplexity {np.exp(float(loss)):.3f}", h.shape)
