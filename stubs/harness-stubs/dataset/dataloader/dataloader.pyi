# Written by `python -m tests.stubs`.
from harness.framework.tensor.tensor import Tensor as Tensor
