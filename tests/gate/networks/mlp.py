"""A multi-layer perceptron, trained two steps with Adam."""

from harness import float32, nn
from tests.gate.networks.values import fill, tensor


class MLP(nn.Cell):
    """``widths[0]`` features in, ``widths[-1]`` out; sigmoid inside, tanh at the end."""

    def __init__(self, widths):
        super().__init__()
        self.fc1 = nn.Dense(widths[0], widths[1], activation="sigmoid")
        self.fc2 = nn.Dense(widths[1], widths[2], activation="relu")
        self.fc3 = nn.Dense(widths[2], widths[3], activation=nn.Tanh())

    def construct(self, x):
        return self.fc3(self.fc2(self.fc1(x)))


def play(msdump):
    """Two batches of 6 samples."""
    network = fill(MLP((8, 16, 12, 4)))
    optimizer = nn.Adam(network.trainable_params(), learning_rate=0.01)
    batches = [(tensor((6, 8), f"x{i}", float32), tensor((6, 4), f"y{i}", float32)) for i in range(2)]
    msdump.train(network, nn.MSELoss(), optimizer, batches)
