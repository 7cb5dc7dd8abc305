# Written by `python -m tests.stubs`.
from harness.framework.nn.cell import Cell as Cell
from harness.framework.nn.transforms import GradOperation as GradOperation
from harness.framework.tensor.tensor import Tensor as Tensor
