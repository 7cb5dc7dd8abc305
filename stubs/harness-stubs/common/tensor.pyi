# Written by `python -m tests.stubs`.
from harness.framework.communication.management import get_group_size as get_group_size
from harness.framework.seed import get_seed as get_seed
from harness.framework.tensor.symbol import Symbol as Symbol
from harness.framework.tensor.tensor import Tensor as Tensor
