# Written by `python -m tests.stubs`.
from harness.framework.mint.nn.layers import GLU as GLU
from harness.framework.mint.nn.layers import SiLU as SiLU
from harness.framework.mint.nn.layers import Sigmoid as Sigmoid
from harness.framework.mint.nn.layers import Tanh as Tanh
from harness.framework.nn.cell import Cell as Cell
