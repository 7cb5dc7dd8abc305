# Written by `python -m tests.stubs`.
from harness.framework.common.machine import threads_num as threads_num
