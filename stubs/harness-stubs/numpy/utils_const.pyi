# Written by `python -m tests.stubs`.
from harness.framework.ops.primitives.composition import constexpr as constexpr
from harness.framework.tensor.tensor import Tensor as Tensor
