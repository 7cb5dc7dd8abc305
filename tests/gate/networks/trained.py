"""A classifier trained three epochs by ``Model.fit``, watched: losses, metrics, printed lines, checkpoints."""

from harness import Tensor, float32, int32, nn
from harness.framework.train import LearningRateScheduler, LossMonitor
from tests.gate.networks.values import fill, tensor


class Classifier(nn.Cell):
    """Five features in, three classes out."""

    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(5, 6, activation="tanh")
        self.out = nn.Dense(6, 3)

    def construct(self, x):
        return self.out(self.hidden(x))


def play(msdump):
    """Two batches of 4 samples, gone through three times."""
    network = fill(Classifier())
    optimizer = nn.Momentum(network.trainable_params(), learning_rate=0.2, momentum=0.9)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    batches = [(tensor((4, 5), f"x{i}", float32), Tensor([i, 1, 2, 0], int32)) for i in range(2)]
    callbacks = [LossMonitor(), LearningRateScheduler(lambda rate, step: rate / 2)]
    msdump.train(network, loss, optimizer, batches, epochs=3, callbacks=callbacks, metrics={"accuracy"})
