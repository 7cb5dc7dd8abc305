# Written by `python -m tests.stubs`.
from typing import Any
from harness.framework.tensor.tensor import Tensor as Tensor
def stop_gradient(value: Any) -> Any: ...
