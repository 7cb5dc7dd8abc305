# Written by `python -m tests.stubs`.
from harness.framework.nn.cell import Cell as Cell
from harness.framework.nn.rearranging import TimeDistributed as TimeDistributed
from harness.framework.ops.primitive import Primitive as Primitive
from harness.framework.ops.primitives.composition import constexpr as constexpr
from harness.framework.tensor.tensor import Tensor as Tensor
