# Written by `python -m tests.stubs`.
from harness.framework.nn.cell import Cell as Cell
from harness.framework.nn.containers import CellDict as CellDict
from harness.framework.nn.containers import CellList as CellList
from harness.framework.nn.containers import SequentialCell as SequentialCell
