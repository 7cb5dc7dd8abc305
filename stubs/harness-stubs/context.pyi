# Written by `python -m tests.stubs`.
from harness.framework.context import ParallelMode as ParallelMode
from harness.framework.context import get_auto_parallel_context as get_auto_parallel_context
from harness.framework.context import get_context as get_context
from harness.framework.context import reset_auto_parallel_context as reset_auto_parallel_context
from harness.framework.context import set_auto_parallel_context as set_auto_parallel_context
from harness.framework.context import set_context as set_context
COMPATIBLE: int
GRAPH_MODE: int
LAX: int
PYNATIVE_MODE: int
STRICT: int
