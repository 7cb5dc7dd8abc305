# Written by `python -m tests.stubs`.
from typing import Any
from harness.device_context.cpu import device as device
from harness.device_context.cpu import op_tuning as op_tuning
from harness.framework.common.machine import threads_num as threads_num
def device_count() -> Any: ...
def is_available() -> Any: ...
