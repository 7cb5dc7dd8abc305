# Written by `python -m tests.stubs`.
from harness.hal import contiguous_tensors_handle as contiguous_tensors_handle
from harness.hal import device as device
from harness.hal import event as event
from harness.hal import memory as memory
from harness.hal import stream as stream
