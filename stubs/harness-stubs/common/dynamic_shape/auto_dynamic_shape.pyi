# Written by `python -m tests.stubs`.
from harness.framework.tensor.parameter import Parameter as Parameter
