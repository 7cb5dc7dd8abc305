"""A language model whose output layer is its embedding, trained with perplexity and cosine decay."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(21)
ms.set_context(mode=0)
V, D = 9, 6


class LM(nn.Cell):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, D)
        self.pos = nn.Embedding(5, D)
        self.norm = nn.LayerNorm((D,))
        self.ff = nn.Dense(D, D, activation="tanh")
        self.mask = Tensor(np.tril(np.ones((5, 5), np.float32)))

    def construct(self, ids):
        h = self.emb(ids) + self.pos(ops.arange(5))
        att = ops.matmul(h, h.swapaxes(1, 2)) / (D**0.5)
        att = ops.softmax(att + (self.mask - 1) * 1e4, -1)
        h = self.norm(h + ops.matmul(att, h))
        h = self.ff(h) + h
        return ops.matmul(h, self.emb.embedding_table.T)


net = LM()
lr = nn.cosine_decay_lr(0.001, 0.05, total_step=6, step_per_epoch=2, decay_epoch=3)
opt = nn.Adam(net.trainable_params(), learning_rate=lr, weight_decay=1e-3)
ce = nn.CrossEntropyLoss()
rng = np.random.RandomState(0)
ids = rng.randint(0, V, (3, 6)).astype(np.int32)


def forward(x, y):
    logits = net(x)
    return ce(logits.view(-1, V), y.view(-1))


grad_fn = ms.value_and_grad(forward, None, opt.parameters)


@ms.jit
def step(x, y):
    loss, grads = grad_fn(x, y)
    opt(grads)
    return loss


for i in range(6):
    loss = step(Tensor(ids[:, :-1]), Tensor(ids[:, 1:]))
    print(i, f"{float(loss):.4f} {np.exp(float(loss)):.3f}")
print(len(net.trainable_params()), [p.name for p in net.trainable_params()])
