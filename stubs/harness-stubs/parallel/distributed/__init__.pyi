# Written by `python -m tests.stubs`.
from harness.parallel.distributed import distributed_data_parallel as distributed_data_parallel
from harness.parallel.distributed import flatten_grad_buffer as flatten_grad_buffer
