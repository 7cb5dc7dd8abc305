"""Encoder and decoder with attention and teacher forcing; greedy decoding afterwards."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(8)
ms.set_context(mode=ms.PYNATIVE_MODE)


class Encoder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, 5)
        self.rnn = nn.GRU(5, 5, batch_first=True, bidirectional=True)

    def construct(self, x):
        return self.rnn(self.table(x))


class Decoder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, 5)
        self.cell = nn.GRUCell(15, 5)
        self.query = nn.Dense(5, 10)
        self.out = nn.Dense(5, 9)

    def construct(self, token, state, memory):
        weights = ops.softmax(ops.bmm(memory, self.query(state).expand_dims(-1)), 1)
        context = (weights * memory).sum(1)
        state = self.cell(ops.concat((self.table(token), context), -1), state)
        return self.out(state), state


class Both(nn.Cell):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = Encoder(), Decoder()
        self.bridge = nn.Dense(10, 5)

    def construct(self, source, target):
        memory, state = self.encoder(source)
        state = ops.tanh(self.bridge(ops.concat((state[0], state[1]), -1)))
        losses = 0
        for i in range(target.shape[1] - 1):
            logits, state = self.decoder(target[:, i], state, memory)
            losses += ops.cross_entropy(logits, target[:, i + 1])
        return losses / (target.shape[1] - 1)

    def greedy(self, source, steps):
        memory, state = self.encoder(source)
        state = ops.tanh(self.bridge(ops.concat((state[0], state[1]), -1)))
        token, found = ops.zeros((source.shape[0],), ms.int32), []
        for _ in range(steps):
            logits, state = self.decoder(token, state, memory)
            token = logits.argmax(-1).astype(ms.int32)
            found.append(token.asnumpy().tolist())
        return found


net = Both()
optimizer = nn.Adam(net.trainable_params(), 0.02)
grad = ms.value_and_grad(net, None, optimizer.parameters)
r = np.random.RandomState(0)
source, target = Tensor(r.randint(0, 9, (3, 4)), ms.int32), Tensor(r.randint(0, 9, (3, 4)), ms.int32)
for _ in range(3):
    loss, grads = grad(source, target)
    optimizer(grads)
    print(f"loss {loss.asnumpy():.4f}")
print(net.greedy(source, 3))
