# Written by `python -m tests.stubs`.
from harness.nn.grad import cell_grad as cell_grad
