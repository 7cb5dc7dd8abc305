"""A transformer encoder block with attention and layer normalisation, trained two steps with AdamWeightDecay."""

import numpy as np

from harness import Parameter, Tensor, nn, ops
from tests.gate.networks.values import fill


class Attention(nn.Cell):
    """Multi-head self-attention over (batch, length, size)."""

    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Dense(size, size)
        # A bias of the keys moves all scores of a row alike, which softmax takes out: its gradient is mere rounding.
        self.key = nn.Dense(size, size, has_bias=False)
        self.value = nn.Dense(size, size)
        self.out = nn.Dense(size, size)
        self.softmax = nn.Softmax(axis=-1)
        self.scores = ops.BatchMatMul(transpose_b=True)
        self.context = ops.BatchMatMul()
        self.scale = (size // heads) ** -0.5

    def split(self, x):
        """(batch, length, size) to (batch, heads, length, size of a head)."""
        batch, length, size = x.shape
        return x.reshape((batch, length, self.heads, size // self.heads)).transpose((0, 2, 1, 3))

    def construct(self, x):
        scores = self.scores(self.split(self.query(x)), self.split(self.key(x))) * self.scale
        mixed = self.context(self.softmax(scores), self.split(self.value(x)))
        return self.out(mixed.transpose((0, 2, 1, 3)).reshape(x.shape))


class EncoderBlock(nn.Cell):
    """Attention and a feed-forward layer, each with a residual path and a normalisation before it."""

    def __init__(self, size, heads, inner):
        super().__init__()
        self.norm1 = nn.LayerNorm((size,))
        self.attention = Attention(size, heads)
        self.norm2 = nn.LayerNorm((size,))
        self.up = nn.Dense(size, inner)
        self.gelu = nn.GELU()
        self.down = nn.Dense(inner, size)

    def construct(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(self.gelu(self.up(self.norm2(x))))


class Encoder(nn.Cell):
    """Token and position embedding, one block, and a class from the mean over the length."""

    def __init__(self, vocabulary, length, size, heads, classes):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, size)
        self.position = Parameter(Tensor(np.zeros((length, size), np.float32)), name="position")
        self.block = EncoderBlock(size, heads, 2 * size)
        self.head = nn.Dense(size, classes)

    def construct(self, x):
        x = self.embedding(x) + self.position
        return self.head(ops.ReduceMean()(self.block(x), 1))


def play(msdump):
    """Two batches of 3 sentences of 5 tokens; no weight decay on norms and biases.

    The classes are not balanced: gradients that nearly cancel would show rounding more than anything else.
    """
    network = fill(Encoder(11, 5, 8, 2, 3))
    plain = [p for p in network.trainable_params() if "norm" in p.name or "bias" in p.name]
    decayed = [p for p in network.trainable_params() if not ("norm" in p.name or "bias" in p.name)]
    groups = [{"params": decayed, "weight_decay": 0.0625}, {"params": plain, "weight_decay": 0.0}]
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    labels = Tensor(np.array([2, 2, 0], np.int32))
    tokens = [(np.arange(15).reshape(3, 5) * (3 + i) % 11).astype(np.int32) for i in range(2)]
    optimizer = nn.AdamWeightDecay(groups, learning_rate=0.0078125)
    msdump.train(network, loss, optimizer, [(Tensor(t), labels) for t in tokens])
