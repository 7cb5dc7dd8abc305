# Written by `python -m tests.stubs`.
from harness.framework.mint.functions import empty_like as empty_like
from harness.framework.nn.cell import Cell as Cell
from harness.framework.ops.primitive import Primitive as Primitive
from harness.framework.tensor.parameter import Parameter as Parameter
from harness.framework.tensor.parameter import ParameterTuple as ParameterTuple
from harness.framework.tensor.tensor import Tensor as Tensor
