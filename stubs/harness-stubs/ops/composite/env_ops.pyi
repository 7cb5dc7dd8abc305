# Written by `python -m tests.stubs`.
from typing import Any
from harness.framework.ops.primitive import Primitive as Primitive
from harness.framework.ops.primitives.composition import MultitypeFuncGraph as MultitypeFuncGraph
def zeros_like(input: Any, *, dtype: Any = ...) -> Any: ...
