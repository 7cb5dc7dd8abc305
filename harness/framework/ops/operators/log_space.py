"""LogSpace: powers of a base whose exponents stand evenly between two."""

from __future__ import annotations

import numpy as np

from harness.errors import DtypeError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.graph import Spec, TensorSpec


@operator
class LogSpace(Operator):
    """start, end (tensors without dimensions): (steps,) of the attribute ``dtype``. Attributes ``steps``, ``base``."""

    name = "LogSpace"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        if any(call.dtype(at).kind != "f" for at in (0, 1)) or call.dtype(0) is not call.dtype(1):
            raise DtypeError(f"LogSpace takes floating tensors of one dtype, got {call.dtype(0)} and {call.dtype(1)}")
        if call.shape(0) or call.shape(1):
            raise call.fail("start and end must have no dimensions")
        return TensorSpec(call.attrs["dtype"], (call.attrs["steps"],))

    def kernel(self, call: Call, start: Array, end: Array) -> Array:
        steps = call.attrs["steps"]
        first, last = (np.longdouble(numerics.wide(x)) for x in (start, end))
        step = (last - first) / max(steps - 1, 1)
        return np.asarray(np.longdouble(call.attrs["base"]) ** (first + np.arange(steps) * step))
