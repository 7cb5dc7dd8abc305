# Written by `python -m tests.stubs`.
from harness.framework.common.helpers import opt_init_args_register as opt_init_args_register
from harness.framework.nn.optimizer import Optimizer as Optimizer
from harness.framework.nn.rms_prop import RMSProp as RMSProp
from harness.framework.nn.transforms import jit as jit
