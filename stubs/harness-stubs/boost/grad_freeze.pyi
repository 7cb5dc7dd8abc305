# Written by `python -m tests.stubs`.
from harness.framework.nn.cell import Cell as Cell
from harness.framework.nn.grad_reducer import DistributedGradReducer as DistributedGradReducer
from harness.framework.nn.large_batch import LARS as LARS
from harness.framework.nn.optimizer import Optimizer as Optimizer
from harness.framework.tensor.tensor import Tensor as Tensor
