"""Log and Log1p."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, operator
from harness.framework.ops.elementwise import Floating
from harness.framework.tensor import call as emit

#: settings a ``Log`` node shows (measured)
LOG: dict[str, Any] = {"shift": 0.0, "scale": 1.0, "cust_aicpu": "Log", "base": -1.0}


@operator
class Log(Floating):
    """Natural logarithm; negative numbers give NaN."""

    name = "Log"
    steady = True

    @staticmethod
    def function(x: Array) -> Array:
        return np.log(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Div", b.dout, b.inputs[0]),)


@operator
class Log1p(Floating):
    """log(1 + x), exact near 0."""

    name = "Log1p"

    @staticmethod
    def function(x: Array) -> Array:
        return np.log1p(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Div", b.dout, emit("AddScalar", b.inputs[0], 1, 1)),)
