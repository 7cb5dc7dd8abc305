# Written by `python -m tests.stubs`.
from harness.framework.nn.cell import Cell as Cell
from harness.framework.ops.primitives.composition import constexpr as constexpr
