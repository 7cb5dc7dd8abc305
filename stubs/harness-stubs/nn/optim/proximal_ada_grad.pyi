# Written by `python -m tests.stubs`.
from harness.framework.nn.optimizer import Optimizer as Optimizer
from harness.framework.nn.proximal import ProximalAdagrad as ProximalAdagrad
from harness.framework.nn.transforms import jit as jit
from harness.framework.tensor.tensor import Tensor as Tensor
