# Written by `python -m tests.stubs`.
from harness.device_context.ascend import device as device
from harness.device_context.ascend import op_debug as op_debug
from harness.device_context.ascend import op_precision as op_precision
from harness.device_context.ascend import op_tuning as op_tuning
