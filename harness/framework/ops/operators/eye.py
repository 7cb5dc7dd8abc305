"""Eye: ones on a diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Call, Operator, operator
from harness.framework.ops.constants import ints, type_of
from harness.graph import Spec, TensorSpec


@operator
class Eye(Operator):
    """Rows, columns, and the number of the dtype (see ``constants.TYPE_IDS``)."""

    name = "Eye"

    def infer(self, call: Call) -> Spec:
        (rows,), (columns,), (dtype,) = ints(call, 0), ints(call, 1), ints(call, 2)
        if rows < 0 or columns < 0:
            raise call.fail("rows and columns must not be below 0")
        return TensorSpec(type_of(dtype), (rows, columns))

    def kernel(self, call: Call, *_sizes: Any) -> Array:
        rows, columns = call.outputs()[0].shape
        return np.eye(rows, columns)
