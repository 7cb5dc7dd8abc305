# Written by `python -m tests.stubs`.
from harness.framework.mint.nn.layers import ConstantPad1d as ConstantPad1d
from harness.framework.mint.nn.layers import ConstantPad2d as ConstantPad2d
from harness.framework.mint.nn.layers import ConstantPad3d as ConstantPad3d
from harness.framework.mint.nn.layers import ZeroPad1d as ZeroPad1d
from harness.framework.mint.nn.layers import ZeroPad2d as ZeroPad2d
from harness.framework.mint.nn.layers import ZeroPad3d as ZeroPad3d
from harness.framework.nn.cell import Cell as Cell
