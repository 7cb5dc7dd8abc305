# Written by `python -m tests.stubs`.
from harness.framework.common.machine import set_deterministic as set_deterministic
from harness.framework.context import set_device as set_device
