# Written by `python -m tests.stubs`.
from harness.framework.common.helpers import opt_init_args_register as opt_init_args_register
from harness.framework.nn.large_batch import LARS as LARS
from harness.framework.nn.optimizer import Optimizer as Optimizer
from harness.framework.nn.transforms import jit as jit
from harness.framework.tensor.parameter import Parameter as Parameter
from harness.framework.tensor.tensor import Tensor as Tensor
