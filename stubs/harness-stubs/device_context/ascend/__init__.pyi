# Written by `python -m tests.stubs`.
from typing import Any
from harness.device_context.ascend import device as device
from harness.device_context.ascend import op_debug as op_debug
from harness.device_context.ascend import op_precision as op_precision
from harness.device_context.ascend import op_tuning as op_tuning
from harness.framework.common.machine import conv_allow_hf32 as conv_allow_hf32
from harness.framework.common.machine import matmul_allow_hf32 as matmul_allow_hf32
from harness.framework.common.machine import precision_mode as precision_mode
def is_available() -> Any: ...
