# Written by `python -m tests.stubs`.
from harness.framework.nn.transforms import jit as jit
