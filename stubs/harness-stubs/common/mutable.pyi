# Written by `python -m tests.stubs`.
from harness.framework.common.tensor import mutable as mutable
from harness.framework.tensor.tensor import Tensor as Tensor
