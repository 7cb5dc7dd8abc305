# Written by `python -m tests.stubs`.
from harness.framework.common.machine import is_available as is_available
from harness.hal import contiguous_tensors_handle as contiguous_tensors_handle
from harness.hal import device as device
from harness.hal import event as event
from harness.hal import memory as memory
from harness.hal import stream as stream
