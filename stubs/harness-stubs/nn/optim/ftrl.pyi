# Written by `python -m tests.stubs`.
from typing import Any
from harness.framework.common.helpers import opt_init_args_register as opt_init_args_register
from harness.framework.nn.optimizer import Optimizer as Optimizer
from harness.framework.nn.proximal import FTRL as FTRL
from harness.framework.nn.transforms import jit as jit
def zeros_like(input: Any, *, dtype: Any = ...) -> Any: ...
