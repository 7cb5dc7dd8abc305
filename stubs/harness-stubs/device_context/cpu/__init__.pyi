# Written by `python -m tests.stubs`.
from harness.device_context.cpu import device as device
from harness.device_context.cpu import op_tuning as op_tuning
