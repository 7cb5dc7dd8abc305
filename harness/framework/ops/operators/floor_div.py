"""FloorDiv."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Binary, as_result


@operator
class FloorDiv(Binary):
    """floor(x / y)."""

    name = "FloorDiv"
    accepts = "biuf"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        x, y = as_result(call, x, y)
        return numerics.floor_divide(x, y) if x.dtype.kind in "iub" else np.floor(numerics.divide(x, y))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None
