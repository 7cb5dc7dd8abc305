# Written by `python -m tests.stubs`.
from typing import Any
from harness.framework.nn.activation import LeakyReLU as LeakyReLU
from harness.framework.nn.cell import Cell as Cell
from harness.framework.nn.fused import Conv2dBnAct as Conv2dBnAct
from harness.framework.nn.fused import DenseBnAct as DenseBnAct
from harness.framework.nn.normalization import BatchNorm1d as BatchNorm1d
from harness.framework.nn.normalization import BatchNorm2d as BatchNorm2d
from harness.framework.ops.primitive import Primitive as Primitive
def get_activation(name: Any, prim_name: Any = ...) -> Any: ...
