# Written by `python -m tests.stubs`.
from harness.framework.nn.cell import Cell as Cell
