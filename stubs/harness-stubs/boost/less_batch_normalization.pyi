# Written by `python -m tests.stubs`.
from harness.framework.nn.basic import Dense as Dense
from harness.framework.nn.cell import Cell as Cell
from harness.framework.nn.initializer import initializer as initializer
from harness.framework.tensor.parameter import Parameter as Parameter
from harness.framework.tensor.tensor import Tensor as Tensor
