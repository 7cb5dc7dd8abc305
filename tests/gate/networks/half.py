"""Float16: weights in float32, arithmetic in float16, a scaled loss; two training steps with Momentum."""

from harness import float16, float32, nn, ops
from tests.gate.networks.values import fill, tensor


class HalfNet(nn.Cell):
    """Two dense layers in float16 and one in float32."""

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(8, 16, activation="relu").to_float(float16)
        self.fc2 = nn.Dense(16, 8).to_float(float16)
        self.fc3 = nn.Dense(8, 3)

    def construct(self, x):
        return self.fc3(ops.cast(self.fc2(self.fc1(x)), float32))


class ScaledLoss(nn.Cell):
    """Mean absolute error times a constant, so that small float16 gradients do not vanish."""

    def __init__(self, scale):
        super().__init__()
        self.loss = nn.L1Loss()
        self.scale = scale

    def construct(self, out, label):
        return self.loss(out, label) * self.scale


def play(msdump):
    """Two batches of 4 samples; the optimizer takes the loss scale out again."""
    network = fill(HalfNet())
    optimizer = nn.Momentum(network.trainable_params(), 0.0625, 0.9, loss_scale=128.0)
    batches = [(tensor((4, 8), f"x{i}", float32), tensor((4, 3), f"y{i}", float32)) for i in range(2)]
    msdump.train(network, ScaledLoss(128.0), optimizer, batches)
