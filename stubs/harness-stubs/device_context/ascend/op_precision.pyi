# Written by `python -m tests.stubs`.
from harness.framework.common.machine import conv_allow_hf32 as conv_allow_hf32
from harness.framework.common.machine import matmul_allow_hf32 as matmul_allow_hf32
from harness.framework.common.machine import precision_mode as precision_mode
