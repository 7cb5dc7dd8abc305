# Written by `python -m tests.stubs`.
from typing import Any
from harness.framework.ops.primitives.printing import Print as Print
from harness.framework.tensor.tensor import Tensor as Tensor
def print_(*input_x: Any) -> Any: ...
