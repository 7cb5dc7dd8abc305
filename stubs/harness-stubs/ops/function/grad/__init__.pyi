# Written by `python -m tests.stubs`.
from typing import Any
from harness.framework.nn.jacobians import jacfwd as jacfwd
from harness.framework.nn.jacobians import jacrev as jacrev
from harness.framework.nn.transforms import get_grad as get_grad
from harness.framework.nn.transforms import grad as grad
from harness.framework.nn.transforms import jvp as jvp
from harness.framework.nn.transforms import value_and_grad as value_and_grad
from harness.framework.nn.transforms import vjp as vjp
from harness.ops.function.grad import grad_func as grad_func
def stop_gradient(value: Any) -> Any: ...
