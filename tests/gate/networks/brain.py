"""Bfloat16: a network that keeps its state in bfloat16 and multiplies matrices in float32; forward, twice.

The operators in bfloat16 are those for which MindSpore 2.10.0 has a CPU kernel: Add, Mul, Div, Neg, Concat and Cast.
"""

from harness import Parameter, bfloat16, float32, nn, ops
from tests.gate.networks.values import fill, tensor


class Affine(nn.Cell):
    """Scale and shift of each feature, all in bfloat16."""

    def __init__(self, size):
        super().__init__()
        self.scale = Parameter(tensor((size,), "scale", bfloat16), name="scale")
        self.shift = Parameter(tensor((size,), "shift", bfloat16), name="shift")

    def construct(self, x):
        return x * self.scale + self.shift


class BrainNet(nn.Cell):
    """A gated layer; float32 in and out."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Dense(8, 6, activation="sigmoid")
        self.value = nn.Dense(8, 6)
        self.affine = Affine(6)

    def construct(self, x):
        gate = ops.cast(self.gate(x), bfloat16)
        value = ops.cast(self.value(x), bfloat16)
        y = self.affine(gate * value)
        y = ops.concat((y, -y / gate), axis=1)
        return ops.cast(y * 1.5, float32)


def play(msdump):
    """Two runs over 4 samples."""
    msdump.run(fill(BrainNet()), tensor((4, 8), "x", float32), steps=2)
