# Written by `python -m tests.stubs`.
from harness.train import *
