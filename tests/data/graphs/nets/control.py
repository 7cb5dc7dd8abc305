"""Control flow on tensor values: kernel graphs, their ids, what crosses between them."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.ones((2, 3), np.float32))


class Branch(nn.Cell):
    """A branch."""

    def construct(self, x):
        x = ops.exp(x)
        return ops.tanh(ops.cond(x.sum() > 1, ops.sin, ops.cos, x))


class Loop(nn.Cell):
    """A loop."""

    def construct(self, x):
        return ops.tanh(ops.while_loop(lambda x: x.sum() > 1, lambda x: x * 0.5, ops.exp(x)))


class BranchThenLoop(nn.Cell):
    """A branch, kernels, a loop."""

    def construct(self, x):
        x = ops.exp(x)
        x = ops.neg(ops.cond(x.sum() > 1, ops.sin, ops.cos, x))
        return ops.tanh(ops.while_loop(lambda x: ops.abs(x).sum() > 1, lambda x: x * 0.5, x))


class TwoBranches(nn.Cell):
    """Two branches, one after the other."""

    def construct(self, x):
        x = ops.exp(x)
        x = ops.neg(ops.cond(x.sum() > 1, ops.sin, ops.cos, x))
        return ops.tanh(ops.cond(x.max() > 0, ops.sqrt, ops.square, x))


class TwoLoops(nn.Cell):
    """Two loops, one after the other."""

    def construct(self, x):
        x = ops.neg(ops.while_loop(lambda x: x.sum() > 1, lambda x: x * 0.5, ops.exp(x)))
        return ops.tanh(ops.while_loop(lambda x: ops.abs(x).max() > 0.1, lambda x: ops.sin(x) * 0.5, x))


class BranchInBranch(nn.Cell):
    """A branch on one side of a branch."""

    def inner(self, x):
        """The true side."""
        return ops.abs(ops.cond(x.max() > 2, ops.sqrt, ops.sin, x))

    def construct(self, x):
        x = ops.exp(x)
        return ops.tanh(ops.cond(x.sum() > 1, self.inner, ops.cos, x))


class BranchInLoop(nn.Cell):
    """A branch in the body of a loop."""

    def body(self, x):
        """One turn."""
        return ops.abs(ops.cond(x.max() > 2, lambda x: ops.sqrt(x) * 0.75, lambda x: ops.sin(x) * 0.5, x))

    def construct(self, x):
        return ops.tanh(ops.while_loop(lambda x: x.sum() > 1, self.body, ops.exp(x)))


for kind in (Branch, Loop, BranchThenLoop, TwoBranches, TwoLoops, BranchInBranch, BranchInLoop):
    kind()(x)
