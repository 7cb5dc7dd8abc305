# Written by `python -m tests.stubs`.
from harness.framework.experimental.optim.accumulating import RMSprop as RMSprop
from harness.framework.experimental.optim.optimizer import Optimizer as Optimizer
from harness.framework.nn.transforms import jit as jit
