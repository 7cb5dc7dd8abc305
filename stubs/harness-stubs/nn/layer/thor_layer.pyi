# Written by `python -m tests.stubs`.
from typing import Any
from harness.framework.communication.management import get_group_size as get_group_size
from harness.framework.context import ParallelMode as ParallelMode
from harness.framework.nn.cell import Cell as Cell
from harness.framework.nn.initializer import Initializer as Initializer
from harness.framework.nn.initializer import initializer as initializer
from harness.framework.nn.shaping import ClipByNorm as ClipByNorm
from harness.framework.ops.primitives.composition import constexpr as constexpr
from harness.framework.tensor.parameter import Parameter as Parameter
from harness.framework.tensor.tensor import Tensor as Tensor
def get_activation(name: Any, prim_name: Any = ...) -> Any: ...
