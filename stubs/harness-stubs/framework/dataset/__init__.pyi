# Written by `python -m tests.stubs`.
from harness.dataset import *
