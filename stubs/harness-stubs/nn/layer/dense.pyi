# Written by `python -m tests.stubs`.
from harness.framework.nn.cell import Cell as Cell
from harness.framework.nn.initializer import Uniform as Uniform
from harness.framework.nn.initializer import initializer as initializer
from harness.framework.nn.rearranging import BiDense as BiDense
from harness.framework.ops.primitives.composition import constexpr as constexpr
from harness.framework.tensor.parameter import Parameter as Parameter
from harness.framework.tensor.tensor import Tensor as Tensor
