# Written by `python -m tests.stubs`.
from typing import Any
from harness.framework.mint.nn.functional import pad as pad_ext
from harness.framework.nn.cell import Cell as Cell
from harness.framework.nn.initializer import HeUniform as HeUniform
from harness.framework.nn.initializer import Uniform as Uniform
from harness.framework.nn.initializer import initializer as initializer
from harness.framework.tensor.parameter import Parameter as Parameter
def isconstant(x: Any) -> Any: ...
def rank(input_x: Any) -> Any: ...
