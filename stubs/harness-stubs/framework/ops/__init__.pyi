# Written by `python -m tests.stubs`.
from harness.ops import *
