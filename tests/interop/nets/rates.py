"""Learning rates that change with the step."""

from feed import data, labels, train
from mindspore import nn

x, y = data(3, 8), labels(3, classes=4)
rates = [
    nn.ExponentialDecayLR(0.1, 0.9, 4),
    nn.CosineDecayLR(0.01, 0.1, 4),
    nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5),
    nn.WarmUpLR(0.1, 4),
    nn.cosine_decay_lr(0.01, 0.1, 4, 1, 3),
    nn.warmup_lr(0.1, 4, 1, 2),
    nn.piecewise_constant_lr([1, 4], [0.1, 0.01]),
]
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
for rate in rates:
    net = nn.SequentialCell(nn.Dense(8, 6), nn.ReLU(), nn.Dense(6, 4))
    train(net, loss, nn.Momentum(net.trainable_params(), rate, 0.9), x, y)
