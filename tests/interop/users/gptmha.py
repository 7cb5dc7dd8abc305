import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, jit, nn, ops

ms.set_seed(99)
np.random.seed(99)


class GPTBlock(nn.Cell):
    def __init__(self, d, h, maxlen):
        super().__init__()
        self.mha = nn.MultiheadAttention(d, h, batch_first=True)
        self.ln1 = nn.LayerNorm((d,))
        self.ln2 = nn.LayerNorm((d,))
        self.ff = nn.SequentialCell(nn.Dense(d, 2 * d), nn.ReLU(), nn.Dense(2 * d, d))
        self.mask = Tensor(np.triu(np.ones((maxlen, maxlen)), 1).astype(bool))

    def construct(self, x):
        h = self.ln1(x)
        a = self.mha(h, h, h, attn_mask=self.mask, need_weights=False)[0]
        x = x + a
        return x + self.ff(self.ln2(x))


class GPT(nn.Cell):
    def __init__(self, vocab=11, d=8, n=2, maxlen=6):
        super().__init__()
        self.wte = nn.Embedding(vocab, d)
        self.wpe = Parameter(Tensor(np.random.randn(maxlen, d) * 0.02, ms.float32), name="wpe")
        self.h = nn.SequentialCell([GPTBlock(d, 2, maxlen) for _ in range(n)])
        self.lnf = nn.LayerNorm((d,))
        self.head = nn.Dense(d, vocab, has_bias=False)

    def construct(self, ids):
        x = self.wte(ids) + self.wpe
        return self.head(self.lnf(self.h(x)))


net = GPT()
net.set_train()


def warmup(step, base=0.01, warm=2, total=6):
    if step < warm:
        return base * (step + 1) / warm
    return base * 0.5 * (1 + np.cos(np.pi * (step - warm) / (total - warm)))


opt = nn.Adam(net.trainable_params(), learning_rate=[float(warmup(i)) for i in range(6)])


def loss_fn(ids):
    logits = net(ids)
    shifted = logits[:, :-1]
    target = ids[:, 1:]
    logp = ops.log_softmax(shifted, -1)
    return ops.nll_loss(logp.reshape((-1, 11)), target.reshape((-1,)))


@jit
def step(ids):
    loss, grads = ms.value_and_grad(loss_fn, None, opt.parameters)(ids)
    gnorm = ops.sqrt(sum([ops.reduce_sum(ops.square(g)) for g in grads]))
    opt(grads)
    return loss, gnorm


ids = Tensor(np.random.randint(0, 11, (2, 6)).astype(np.int32))
for i in range(3):
    loss, n = step(ids)
    print("step", i, "loss", loss, "norm", n)
