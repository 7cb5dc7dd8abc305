# Written by `python -m tests.stubs`.
from harness.nn import *
