"""CumulativeLogsumexp: the logarithm of running sums of exponentials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.framework.ops.expansion import scalar
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec


@operator
class CumulativeLogsumexp(Operator):
    """x and an axis (0-d Int32); attributes ``exclusive`` and ``reverse``."""

    name = "CumulativeLogsumexp"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        if not call.shape(0):
            raise call.fail("a tensor with an axis is needed")
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, axis: Array) -> Array:
        at = int(np.asarray(axis).reshape(()))
        rows = np.moveaxis(x.astype(np.longdouble), at, 0)
        rows = rows[::-1] if call.attrs["reverse"] else rows
        out, so_far = np.empty_like(rows), np.full(rows.shape[1:], -np.inf, np.longdouble)
        for place, row in enumerate(rows):
            largest = np.maximum(so_far, row)
            low = np.where(np.isfinite(largest), largest, 0)
            after = np.log(np.exp(so_far - low) + np.exp(row - low)) + low
            out[place] = so_far if call.attrs["exclusive"] else after
            so_far = after
        return np.moveaxis(out[::-1] if call.attrs["reverse"] else out, 0, at)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, axis = b.inputs
        with np.errstate(over="ignore"):  # -inf in float16
            lowest = Tensor(np.full(tuple(x.shape), np.finfo(np.float32).min, np.float32), x.dtype)
        attrs = {**b.attrs, "reverse": not b.attrs["reverse"]}

        def part(chosen: Any, dout: Any) -> Any:
            logarithm = emit("Log", dout, shift=0.0, scale=1.0, cust_aicpu="Log", base=-1.0)
            apart = emit(
                "Sub", emit("Select", chosen, logarithm, lowest), b.out, output_names=["output"], input_names=["x", "y"]
            )
            return emit("Exp", emit("Add", emit(self.name, apart, axis, **attrs), x))

        above = part(emit("Greater", b.dout, scalar(0, b.dout.dtype)), b.dout)
        below = part(emit("Less", b.dout, scalar(0, dtypes.int32)), emit("Neg", b.dout))
        return emit("Sub", above, below, output_names=["output"], input_names=["x", "y"]), None
