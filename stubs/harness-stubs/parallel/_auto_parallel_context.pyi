# Written by `python -m tests.stubs`.
from harness.framework.parallel._auto_parallel_context import auto_parallel_context as auto_parallel_context
