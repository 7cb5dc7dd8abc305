# Written by `python -m tests.stubs`.
from typing import Any
from harness.framework.nn.cell import Cell as Cell
def get_activation(name: Any, prim_name: Any = ...) -> Any: ...
