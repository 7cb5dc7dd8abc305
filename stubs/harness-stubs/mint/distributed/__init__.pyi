# Written by `python -m tests.stubs`.
from harness.mint.distributed import distributed as distributed
