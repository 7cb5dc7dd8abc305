# Written by `python -m tests.stubs`.
from harness.framework.common.tensor import mutable as mutable
from harness.framework.context import set_recursion_limit as set_recursion_limit
from harness.framework.nn.jit_config import JitConfig as JitConfig
from harness.framework.nn.transforms import jit as jit
from harness.framework.nn.transforms import jit_class as jit_class
from harness.framework.tensor.parameter import Parameter as Parameter
from harness.framework.tensor.tensor import Tensor as PythonTensor
