import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
import numpy as np
from mindspore import Tensor
from mindspore.common.initializer import Normal

ms.set_seed(42)
np.random.seed(42)

VOCAB, SEQ, HID = 30, 8, 16


class BertEmbeddings(nn.Cell):
    def __init__(self):
        super().__init__()
        self.word = nn.Embedding(VOCAB, HID, embedding_table=Normal(0.02), padding_idx=0)
        self.position = nn.Embedding(SEQ, HID)
        self.token_type = nn.Embedding(2, HID)
        self.ln = nn.LayerNorm([HID], epsilon=1e-12)
        self.position_ids = Tensor(np.arange(SEQ)[None], ms.int32)

    def construct(self, ids, types):
        e = self.word(ids) + self.position(self.position_ids) + self.token_type(types)
        return self.ln(e)


class SelfAttention(nn.Cell):
    def __init__(self, heads=4):
        super().__init__()
        self.h = heads
        self.d = HID // heads
        self.query = nn.Dense(HID, HID)
        self.key = nn.Dense(HID, HID)
        self.value = nn.Dense(HID, HID)
        self.softmax = nn.Softmax(axis=-1)
        self.dense = nn.Dense(HID, HID)
        self.norm = nn.LayerNorm((HID,), epsilon=1e-12)

    def split(self, x):
        x = x.view(x.shape[0], x.shape[1], self.h, self.d)
        return ops.transpose(x, (0, 2, 1, 3))

    def construct(self, x, mask):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = ops.matmul(q, ops.transpose(k, (0, 1, 3, 2))) / (self.d**0.5)
        scores = scores + mask
        ctx = ops.matmul(self.softmax(scores), v)
        ctx = ops.transpose(ctx, (0, 2, 1, 3)).view(x.shape[0], x.shape[1], HID)
        return self.norm(self.dense(ctx) + x)


class Layer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.attention = SelfAttention()
        self.up = nn.Dense(HID, 32, activation="gelu")
        self.down = nn.Dense(32, HID)
        self.norm = nn.LayerNorm((HID,))

    def construct(self, x, mask):
        x = self.attention(x, mask)
        return self.norm(self.down(self.up(x)) + x)


class Bert(nn.Cell):
    def __init__(self, layers=2):
        super().__init__()
        self.emb = BertEmbeddings()
        self.encoder = nn.CellList([Layer() for _ in range(layers)])
        self.transform = nn.SequentialCell([nn.Dense(HID, HID), nn.Tanh(), nn.LayerNorm((HID,))])
        self.decoder = nn.Dense(HID, VOCAB)

    def construct(self, ids, types, attn_mask):
        mask = (1.0 - attn_mask.astype(ms.float32)).expand_dims(1).expand_dims(2) * -10000.0
        x = self.emb(ids, types)
        for layer in self.encoder:
            x = layer(x, mask)
        return self.decoder(self.transform(x))


class MLMLoss(nn.Cell):
    def __init__(self, bert):
        super().__init__()
        self.bert = bert

    def construct(self, ids, types, attn, labels):
        logits = self.bert(ids, types, attn)
        return ops.cross_entropy(logits.view(-1, VOCAB), labels.view(-1), ignore_index=-100)


ids = np.random.randint(1, VOCAB, (4, SEQ)).astype(np.int32)
ids[:, 6:] = 0
labels = np.where(np.random.rand(4, SEQ) < 0.3, ids, -100).astype(np.int32)
ids = np.where(labels != -100, 3, ids).astype(np.int32)
attn = (ids != 0).astype(np.int32)
types = np.zeros((4, SEQ), np.int32)
types[:, 4:] = 1

net = MLMLoss(Bert())
optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-3)
step = nn.TrainOneStepCell(net, optimizer)
step.set_train()
for i in range(3):
    loss = step(Tensor(ids), Tensor(types), Tensor(attn), Tensor(labels))
    print(f"step {i}: loss = {loss.asnumpy():.4f}")
net.set_train(False)
pred = net.bert(Tensor(ids), Tensor(types), Tensor(attn)).argmax(-1)
print(pred.shape, pred.dtype)
