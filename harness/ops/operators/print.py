"""Print: writes its arguments, and is a kernel of the graph."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.graph import Spec, TensorSpec
from harness.ops.base import Array, Backward, Call, Operator, operator
from harness.tensor import Tensor


@operator
class Print(Operator):
    """Arguments of any kind, one line each on standard output; gives a tensor of one Int32, as MindSpore does."""

    name = "Print"
    functional = False
    side_effect = "io"

    def infer(self, call: Call) -> Spec:
        return TensorSpec(dtypes.int32, (1,))

    def kernel(self, call: Call, *args: Any) -> Array:
        for arg in args:
            if not (isinstance(arg, str) and arg in ("IO", "U")):
                print(Tensor(arg).__repr__() if isinstance(arg, np.ndarray) else arg, file=sys.stdout)
        return np.ones(1, np.int32)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return [None] * len(b.inputs)
