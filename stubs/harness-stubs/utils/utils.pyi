# Written by `python -m tests.stubs`.
from harness.framework.nn.transforms import jit_class as jit_class
from harness.framework.tensor.tensor import Tensor as Tensor
