# Written by `python -m tests.stubs`.
from typing import Any
from harness.framework.communication.group import create_group as create_group
from harness.framework.communication.management import GlobalComm as GlobalComm
from harness.framework.communication.management import get_group_rank_from_world_rank as get_group_rank_from_world_rank
from harness.framework.communication.management import get_group_size as get_group_size
from harness.framework.communication.management import get_world_rank_from_group_rank as get_world_rank_from_group_rank
from harness.framework.communication.management import init as init
from harness.framework.nn.transforms import jit_class as jit_class
from harness.framework.ops.primitives.collective import ReduceOp as ReduceOp
from harness.framework.ops.primitives.composition import constexpr as constexpr
from harness.framework.tensor.tensor import Tensor as Tensor
def cat(tensors: Any, axis: Any = ...) -> Any: ...
def synchronize() -> Any: ...
