# Written by `python -m tests.stubs`.
from typing import Any
from harness.device_context.gpu import device as device
from harness.device_context.gpu import op_precision as op_precision
from harness.device_context.gpu import op_tuning as op_tuning
def is_available() -> Any: ...
