"""Control flow on tensor values: a branch and a loop, each in kernel graphs of its own."""

from harness import float32, nn, ops
from tests.gate.networks.values import fill, tensor


def grow(x):
    """One branch."""
    return x * 2 + 1


def shrink(x):
    """The other."""
    return x - 3


class Control(nn.Cell):
    """Halves until the sum is small, then goes one of two ways."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 3)

    def small(self, state):
        return ops.ReduceSum()(ops.Abs()(state)) > 2

    def halve(self, state):
        return state * 0.5

    def construct(self, x):
        x = self.fc(x)
        x = ops.while_loop(self.small, self.halve, x)
        return ops.cond(x[0, 0] > 0, grow, shrink, x)


def play(msdump):
    """One step for each branch."""
    network = fill(Control())
    x = tensor((2, 3), "x", float32)

    def both(*inputs):
        for each in inputs:
            network(each)

    msdump.run(both, x, -x)
