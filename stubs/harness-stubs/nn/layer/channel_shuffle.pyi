# Written by `python -m tests.stubs`.
from harness.framework.nn.cell import Cell as Cell
from harness.framework.nn.rearranging import ChannelShuffle as ChannelShuffle
