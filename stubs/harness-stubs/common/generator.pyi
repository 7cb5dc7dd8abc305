# Written by `python -m tests.stubs`.
from harness.framework.tensor.parameter import Parameter as Parameter
from harness.framework.tensor.tensor import Tensor as Tensor
