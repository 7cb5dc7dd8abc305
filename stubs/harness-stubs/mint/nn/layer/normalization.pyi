# Written by `python -m tests.stubs`.
from typing import Any
from harness.framework.communication.management import GlobalComm as GlobalComm
from harness.framework.communication.management import get_group_size as get_group_size
from harness.framework.mint.nn.layers import GroupNorm as GroupNorm
from harness.framework.nn.cell import Cell as Cell
from harness.framework.nn.initializer import initializer as initializer
from harness.framework.tensor.parameter import Parameter as Parameter
from harness.framework.tensor.tensor import Tensor as Tensor
def batch_norm(input_x: Any, running_mean: Any, running_var: Any, weight: Any, bias: Any, training: Any = ..., momentum: Any = ..., eps: Any = ...) -> Any: ...
