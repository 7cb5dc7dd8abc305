# Written by `python -m tests.stubs`.
from harness.amp import *
