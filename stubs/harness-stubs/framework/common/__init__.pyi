# Written by `python -m tests.stubs`.
from harness.common import *
