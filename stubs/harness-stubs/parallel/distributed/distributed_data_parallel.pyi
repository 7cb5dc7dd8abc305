# Written by `python -m tests.stubs`.
from harness.framework.communication.management import GlobalComm as GlobalComm
from harness.framework.mint.distributed import broadcast as broadcast
from harness.framework.mint.distributed import get_global_rank as get_global_rank
from harness.framework.mint.distributed import get_world_size as get_world_size
from harness.framework.tensor.tensor import Tensor as Tensor
