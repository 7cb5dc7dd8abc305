"""A small network, trained and looped, for faults on purpose: what stands before a fault, and what becomes of one."""

import pytest

from harness import float32, nn, ops
from tests.gate.networks.values import fill, tensor


class Faulty(nn.Cell):
    """Three features in, two out."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Dense(3, 4, activation="sigmoid")
        self.outer = nn.Dense(4, 2)

    def construct(self, x):
        return self.outer(self.inner(x))


class Halving(nn.Cell):
    """Halves until the sum is small."""

    def small(self, state):
        return ops.ReduceSum()(ops.Abs()(state)) > 2

    def halve(self, state):
        return ops.Sin()(state) * 0.5

    def construct(self, x):
        return ops.Exp()(ops.while_loop(self.small, self.halve, x))


def _trained(msdump):
    """A function that trains one network by one batch more at each call."""
    network = fill(Faulty())
    step = nn.TrainOneStepCell(
        nn.WithLossCell(network, nn.MSELoss()), nn.Momentum(network.trainable_params(), learning_rate=0.1, momentum=0.9)
    )
    step.set_train()
    x, y = tensor((2, 3), "x", float32), tensor((2, 2), "y", float32)
    return lambda: msdump.run(step, x, y)


def fails(msdump, operator, kind):
    """Three steps, of which the second fails and is taken again."""
    step = _trained(msdump)
    step()
    with msdump.inject(operator, kind, iteration=1), pytest.raises(RuntimeError):
        step()
    step()


def is_spoilt(msdump, operator, kind):
    """Three steps; something is spoilt in the second, and nothing mends it."""
    step = _trained(msdump)
    with msdump.inject(operator, kind, iteration=1):
        for _ in range(3):
            step()


def fails_in_a_loop(msdump, operator):
    """The second of two runs fails in the body of a loop."""
    network, x = Halving(), ops.Abs()(tensor((2, 3), "x", float32)) + 1
    msdump.run(network, x)
    with msdump.inject(operator, iteration=1), pytest.raises(RuntimeError):
        msdump.run(network, x)
