"""ReverseV2 and ReverseSequence: the other way round along axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.tensor import call as emit
from harness.graph import Spec


@operator
class ReverseV2(Operator):
    """``x`` backwards along the axes of argument 1."""

    name = "ReverseV2"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        rank = len(call.shape(0))
        axes = [a % rank for a in ints(call, 1) if -rank <= a < rank]
        if len(axes) != len(ints(call, 1)) or len(set(axes)) != len(axes):
            raise call.fail("the axes must be different axes of the tensor")
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, _axes: Any) -> Array:
        return np.flip(x, ints(call, 1))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("ReverseV2", b.dout, b.inputs[1]), None


@operator
class ReverseSequence(Operator):
    """``x`` with the first n positions of axis ``seq_dim`` backwards, n given for each position of ``batch_dim``."""

    name = "ReverseSequence"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        x, lengths = call.shape(0), call.shape(1)
        time, batch = call.attrs["seq_dim"], call.attrs["batch_dim"]
        if not (0 <= time < len(x) and 0 <= batch < len(x)) or time == batch or lengths != x[batch : batch + 1]:
            raise call.fail("two different axes and one length for each position of the batch axis are needed")
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, lengths: Array) -> Array:
        time, batch = call.attrs["seq_dim"], call.attrs["batch_dim"]
        out = np.moveaxis(x, (batch, time), (0, 1)).copy()
        for row, length in zip(out, lengths, strict=True):
            row[: int(length)] = row[: int(length)][::-1].copy()
        return np.moveaxis(out, (0, 1), (batch, time))

    def gradient(self, b: Backward) -> Sequence[Any]:
        attrs: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in b.attrs.items()}
        return emit("ReverseSequence", b.dout, b.inputs[1], **attrs), None
