# Written by `python -m tests.stubs`.
from harness.framework.experimental.optim.optimizer import Optimizer as Optimizer
