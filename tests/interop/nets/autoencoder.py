"""An autoencoder with several optimizers."""

import numpy as np
from feed import train
from mindspore import Tensor, nn


class AE(nn.Cell):
    def __init__(self):
        super().__init__()
        self.encoder = nn.SequentialCell(nn.Dense(12, 8), nn.ReLU(), nn.Dense(8, 3))
        self.decoder = nn.SequentialCell(nn.Dense(3, 8), nn.ReLU(), nn.Dense(8, 12), nn.Sigmoid())

    def construct(self, x):
        return self.decoder(self.encoder(x))


x = Tensor(np.random.RandomState(0).rand(4, 12).astype(np.float32))
for loss in (nn.MSELoss(), nn.L1Loss(), nn.BCELoss(reduction="mean"), nn.SmoothL1Loss(), nn.HuberLoss()):
    net = AE()
    train(net, loss, nn.Adam(net.trainable_params(), 1e-2), x, x, 1)
