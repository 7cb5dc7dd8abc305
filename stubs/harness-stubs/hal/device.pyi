# Written by `python -m tests.stubs`.
from harness.framework.common.machine import is_available as is_available
