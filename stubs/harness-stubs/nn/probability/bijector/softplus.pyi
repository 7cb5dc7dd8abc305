# Written by `python -m tests.stubs`.
from harness.framework.nn.activation import LogSigmoid as LogSigmoid
