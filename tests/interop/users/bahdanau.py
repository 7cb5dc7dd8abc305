import mindspore
import numpy as np
from mindspore import Tensor, nn, ops, value_and_grad

mindspore.set_seed(7)
np.random.seed(7)
mindspore.set_context(mode=mindspore.GRAPH_MODE, device_target="CPU")


class Encoder(nn.Cell):
    def __init__(self, vocab, emb, hid):
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb)
        self.rnn = nn.GRU(emb, hid, batch_first=True, bidirectional=True)
        self.fc = nn.Dense(hid * 2, hid)

    def construct(self, src):
        outputs, hidden = self.rnn(self.embedding(src))
        hidden = ops.tanh(self.fc(ops.cat((hidden[0], hidden[1]), axis=1)))
        return outputs, hidden


class Attn(nn.Cell):
    def __init__(self, hid):
        super().__init__()
        self.attn = nn.Dense(hid * 3, hid)
        self.v = nn.Dense(hid, 1, has_bias=False)

    def construct(self, hidden, enc, mask):
        src_len = enc.shape[1]
        hidden = ops.tile(hidden.expand_dims(1), (1, src_len, 1))
        energy = ops.tanh(self.attn(ops.cat((hidden, enc), axis=2)))
        a = self.v(energy).squeeze(2)
        a = a.masked_fill(mask == 0, -1e9)
        return ops.softmax(a, axis=1)


class Decoder(nn.Cell):
    def __init__(self, vocab, emb, hid, attn):
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb)
        self.attention = attn
        self.cell = nn.GRUCell(emb + hid * 2, hid)
        self.out = nn.Dense(hid * 3 + emb, vocab)

    def construct(self, tok, hidden, enc, mask):
        e = self.embedding(tok)
        a = self.attention(hidden, enc, mask)
        w = ops.bmm(a.expand_dims(1), enc).squeeze(1)
        hidden = self.cell(ops.cat((e, w), 1), hidden)
        return self.out(ops.cat((hidden, w, e), 1)), hidden


class Seq2Seq(nn.Cell):
    def __init__(self, enc, dec, steps, ratio):
        super().__init__()
        self.encoder = enc
        self.decoder = dec
        self.steps = steps
        self.force = [bool(r) for r in ratio]

    def construct(self, src, trg):
        mask = src != 0
        enc, hidden = self.encoder(src)
        tok = trg[:, 0]
        outs = []
        for t in range(1, self.steps):
            o, hidden = self.decoder(tok, hidden, enc, mask)
            outs.append(o)
            if self.force[t]:
                tok = trg[:, t]
            else:
                tok = o.argmax(axis=1).astype(mindspore.int32)
        return ops.stack(outs, axis=1)


enc = Encoder(12, 6, 8)
dec = Decoder(12, 6, 8, Attn(8))
model = Seq2Seq(enc, dec, 4, [1, 1, 0, 1])
criterion = nn.CrossEntropyLoss(ignore_index=0)
opt = nn.Adam(model.trainable_params(), learning_rate=0.01)


def forward(src, trg):
    out = model(src, trg)
    return criterion(out.reshape(-1, 12), trg[:, 1:].reshape(-1))


grad_fn = value_and_grad(forward, None, opt.parameters)


@mindspore.jit
def step(src, trg):
    loss, grads = grad_fn(src, trg)
    grads = ops.clip_by_global_norm(grads, 1.0)
    opt(grads)
    return loss


for e in range(2):
    src = Tensor(np.random.randint(1, 12, (3, 5)), mindspore.int32)
    trg = Tensor(np.random.randint(1, 12, (3, 4)), mindspore.int32)
    print("Epoch", e, "Loss:", step(src, trg))
