"""ChannelShuffle; has no gradient, as in MindSpore."""

from __future__ import annotations

from harness.framework.ops.base import Array, Call, Operator, operator
from harness.graph import Spec


@operator
class ChannelShuffle(Operator):
    """x (n, c, ...): channels taken in turn from each of attribute ``group`` groups."""

    name = "ChannelShuffle"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        x = call.tensor(0)
        if len(x.shape) < 3 or x.shape[1] % call.attrs["group"]:
            raise call.fail(f"the channels must divide into {call.attrs['group']} groups")
        return x.tensor

    def kernel(self, call: Call, x: Array) -> Array:
        groups = call.attrs["group"]
        return x.reshape(x.shape[0], groups, x.shape[1] // groups, -1).swapaxes(1, 2).reshape(x.shape)
