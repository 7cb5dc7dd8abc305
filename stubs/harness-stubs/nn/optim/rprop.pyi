# Written by `python -m tests.stubs`.
from harness.framework.nn.optimizer import Optimizer as Optimizer
from harness.framework.nn.rprop import Rprop as Rprop
from harness.framework.nn.transforms import jit as jit
