# Written by `python -m tests.stubs`.
from harness.nn.utils import init as init
