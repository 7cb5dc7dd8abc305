# Written by `python -m tests.stubs`.
from harness.framework.mint.nn.layers import Flatten as Flatten
from harness.framework.nn.cell import Cell as Cell
