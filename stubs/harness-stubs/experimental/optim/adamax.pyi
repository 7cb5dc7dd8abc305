# Written by `python -m tests.stubs`.
from harness.framework.experimental.optim.moments import Adamax as Adamax
from harness.framework.experimental.optim.optimizer import Optimizer as Optimizer
from harness.framework.nn.transforms import jit as jit
from harness.framework.tensor.parameter import Parameter as Parameter
from harness.framework.tensor.tensor import Tensor as Tensor
