# Written by `python -m tests.stubs`.
from harness.framework.communication.management import GlobalComm as GlobalComm
from harness.framework.communication.management import get_rank as get_rank
from harness.framework.ops.primitive import Primitive as Primitive
from harness.framework.tensor.tensor import Tensor as Tensor
