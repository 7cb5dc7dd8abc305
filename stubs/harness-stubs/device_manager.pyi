# Written by `python -m tests.stubs`.
from harness.framework.context import set_device as set_device
