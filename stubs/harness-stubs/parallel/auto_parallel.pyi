# Written by `python -m tests.stubs`.
from harness.framework.communication.management import get_group_size as get_group_size
from harness.framework.communication.management import get_rank as get_rank
from harness.framework.nn.cell import Cell as Cell
from harness.framework.nn.transforms import jit as jit
