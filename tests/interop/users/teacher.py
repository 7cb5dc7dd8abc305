import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(4)
ms.set_context(mode=ms.PYNATIVE_MODE)
WORDS, WIDTH, LENGTH = 9, 12, 5


class Translator(nn.Cell):
    """Reverses a sequence; the decoder is taught with the right words."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(WORDS, WIDTH)
        self.encoder = nn.GRUCell(WIDTH, WIDTH)
        self.decoder = nn.GRUCell(WIDTH, WIDTH)
        self.out = nn.Dense(WIDTH, WORDS)

    def encode(self, source):
        state = ops.zeros((source.shape[0], WIDTH), ms.float32)
        for at in range(LENGTH):
            state = self.encoder(self.table(source[:, at]), state)
        return state

    def construct(self, source, target, taught):
        state = self.encode(source)
        word = ops.zeros((source.shape[0],), ms.int32)
        scores = []
        for at in range(LENGTH):
            state = self.decoder(self.table(word), state)
            score = self.out(state)
            scores.append(score)
            word = target[:, at] if taught else score.argmax(1).astype(ms.int32)
        return ops.stack(scores, 1)


rng = np.random.default_rng(9)
source = rng.integers(1, WORDS, (16, LENGTH)).astype(np.int32)
target = source[:, ::-1].copy()
net = Translator()
loss_of = nn.CrossEntropyLoss()
optimizer = nn.RMSProp(net.trainable_params(), 0.01)


def forward(a, b, taught):
    scores = net(a, b, taught)
    return loss_of(scores.reshape(-1, WORDS), b.reshape(-1)), scores


step = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)
for epoch in range(12):
    taught = epoch % 4 != 3
    (loss, scores), gradients = step(Tensor(source), Tensor(target), taught)
    optimizer(gradients)
    right = (scores.asnumpy().argmax(-1) == target).mean()
    if epoch % 3 == 0:
        print(f"epoch {epoch} {'taught' if taught else 'free'} loss {float(loss.asnumpy()):.4f} shape {scores.shape}")
print(f"right {right:.2f}", net.encode(Tensor(source[:2])).shape)
