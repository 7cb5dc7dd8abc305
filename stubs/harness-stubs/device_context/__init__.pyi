# Written by `python -m tests.stubs`.
from harness.device_context import ascend as ascend
from harness.device_context import cpu as cpu
from harness.device_context import gpu as gpu
