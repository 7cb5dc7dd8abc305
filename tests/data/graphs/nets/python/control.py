"""What MindSpore ran in place of ``nets/control.py``: the same networks in Python's words, which it compiles."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.ones((2, 3), np.float32))


class Branch(nn.Cell):
    """A branch."""

    def construct(self, x):
        x = ops.exp(x)
        if x.sum() > 1:
            x = ops.sin(x)
        else:
            x = ops.cos(x)
        return ops.tanh(x)


class Loop(nn.Cell):
    """A loop."""

    def construct(self, x):
        x = ops.exp(x)
        while x.sum() > 1:
            x = x * 0.5
        return ops.tanh(x)


class BranchThenLoop(nn.Cell):
    """A branch, kernels, a loop."""

    def construct(self, x):
        x = ops.exp(x)
        if x.sum() > 1:
            x = ops.sin(x)
        else:
            x = ops.cos(x)
        x = ops.neg(x)
        while ops.abs(x).sum() > 1:
            x = x * 0.5
        return ops.tanh(x)


class TwoBranches(nn.Cell):
    """Two branches, one after the other."""

    def construct(self, x):
        x = ops.exp(x)
        if x.sum() > 1:
            x = ops.sin(x)
        else:
            x = ops.cos(x)
        x = ops.neg(x)
        if x.max() > 0:
            x = ops.sqrt(x)
        else:
            x = ops.square(x)
        return ops.tanh(x)


class TwoLoops(nn.Cell):
    """Two loops, one after the other."""

    def construct(self, x):
        x = ops.exp(x)
        while x.sum() > 1:
            x = x * 0.5
        x = ops.neg(x)
        while ops.abs(x).max() > 0.1:
            x = ops.sin(x) * 0.5
        return ops.tanh(x)


class BranchInBranch(nn.Cell):
    """A branch on one side of a branch."""

    def construct(self, x):
        x = ops.exp(x)
        if x.sum() > 1:
            if x.max() > 2:
                x = ops.sqrt(x)
            else:
                x = ops.sin(x)
            x = ops.abs(x)
        else:
            x = ops.cos(x)
        return ops.tanh(x)


class BranchInLoop(nn.Cell):
    """A branch in the body of a loop."""

    def construct(self, x):
        x = ops.exp(x)
        while x.sum() > 1:
            if x.max() > 2:
                x = ops.sqrt(x) * 0.75
            else:
                x = ops.sin(x) * 0.5
            x = ops.abs(x)
        return ops.tanh(x)


for kind in (Branch, Loop, BranchThenLoop, TwoBranches, TwoLoops, BranchInBranch, BranchInLoop):
    kind()(x)
