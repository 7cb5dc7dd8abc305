# Written by `python -m tests.stubs`.
from harness.framework.tensor.symbol import Symbol as Symbol
