# Written by `python -m tests.stubs`.
from harness.framework.experimental.optim.averaging import SGD as SGD
from harness.framework.experimental.optim.optimizer import Optimizer as Optimizer
from harness.framework.nn.transforms import jit as jit
from harness.framework.tensor.tensor import Tensor as Tensor
