# Written by `python -m tests.stubs`.
from harness.framework.communication.management import get_group_size as get_group_size
from harness.framework.communication.management import get_rank as get_rank
from harness.framework.nn.large_batch import LARS as LARS
from harness.framework.tensor.parameter import Parameter as Parameter
from harness.framework.train.checkpoint.load import load_checkpoint as load_checkpoint
