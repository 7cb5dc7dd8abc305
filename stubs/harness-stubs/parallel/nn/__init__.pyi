# Written by `python -m tests.stubs`.
from harness.parallel.nn import parallel_cell_wrapper as parallel_cell_wrapper
from harness.parallel.nn import parallel_grad_reducer as parallel_grad_reducer
