# Written by `python -m tests.stubs`.
from harness.parallel.function import reshard_func as reshard_func
