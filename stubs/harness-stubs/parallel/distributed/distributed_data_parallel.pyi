# Written by `python -m tests.stubs`.
from harness.framework.communication.management import GlobalComm as GlobalComm
from harness.framework.tensor.tensor import Tensor as Tensor
