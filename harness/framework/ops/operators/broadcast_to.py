"""BroadcastTo: axes of length 1 stretched, leading axes added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class BroadcastTo(Operator):
    """``x`` stretched to shape argument 1, where -1 keeps the axis's length."""

    name = "BroadcastTo"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        x, wanted = call.tensor(0), ints(call, 1)
        lead = len(wanted) - len(x.shape)
        if lead < 0 or -1 in wanted[:lead]:
            raise call.fail(f"the shape {list(wanted)} does not hold all axes of {list(x.shape)}")
        out = list(wanted)
        for at, n in enumerate(x.shape, start=lead):
            out[at] = n if out[at] == -1 else out[at]
            if n not in (1, -1, out[at]):
                raise call.fail(f"axis {at - lead} of length {n} cannot become {out[at]}")
        return TensorSpec(x.dtype, tuple(out))

    def kernel(self, call: Call, x: Array, _shape: tuple[int, ...]) -> Array:
        lead = len(_shape) - x.ndim
        return np.broadcast_to(x, [x.shape[i - lead] if n == -1 else n for i, n in enumerate(_shape)])

    def gradient(self, b: Backward) -> Sequence[Any]:
        shape = tuple(b.inputs[0].shape)
        padded = (1,) * (len(b.dout.shape) - len(shape)) + shape
        axes = tuple(i for i, (n, m) in enumerate(zip(padded, b.dout.shape, strict=True)) if n != m)
        out = emit("SumExt", b.dout, axes, True, None) if axes else b.dout
        return out if tuple(out.shape) == shape else emit("Reshape", out, shape), None
