# Written by `python -m tests.stubs`.
from harness.framework.nn.sgd import SGD as SGD
