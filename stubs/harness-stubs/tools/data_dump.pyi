# Written by `python -m tests.stubs`.
from harness.framework.nn.marks import set_dump as set_dump
