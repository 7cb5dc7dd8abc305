# Written by `python -m tests.stubs`.
from harness.framework.common.tensor import mutable as mutable
from harness.framework.nn.cell import Cell as Cell
from harness.framework.nn.transforms import jit as jit
from harness.framework.ops.primitive import Primitive as Primitive
