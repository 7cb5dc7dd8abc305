"""Dropout2D and Dropout3D: whole channels dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from harness import dtypes
from harness.framework.ops import numerics, random
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


class _Channels(Operator):
    """x (n, c, ...): it with channels dropped, the others divided by attribute ``keep_prob``; and what was kept.

    The stream is our own, as ``Dropout``'s.
    """

    functional = False
    tensors = (0,)
    random: ClassVar[bool] = True
    #: axes of x
    rank: ClassVar[int]

    def infer(self, call: Call) -> Spec:
        x = call.tensor(0)
        if len(x.shape) != self.rank:
            raise call.fail(f"{self.rank} axes are needed")
        return TupleSpec((x.tensor, TensorSpec(dtypes.bool_, x.shape)))

    def kernel(self, call: Call, x: Array) -> tuple[Array, Array]:
        keep = float(call.attrs["keep_prob"])
        seeds = call.attrs["seed0"], call.attrs["seed1"]
        drawn = random.uniform(call, seeds, x.shape[0] * x.shape[1]).reshape(x.shape[:2]) < keep
        mask = np.broadcast_to(drawn.reshape(*x.shape[:2], *[1] * (x.ndim - 2)), x.shape)
        return (numerics.wide(x) * mask / keep if keep else np.zeros(x.shape)), mask

    def gradient(self, b: Backward) -> Sequence[Any]:
        keep, dout = b.attrs["keep_prob"], b.dout[0]
        mask = emit("Cast", b.out[1], dout.dtype)
        return (emit("Mul", mask, emit("Muls", dout, 1 / keep if keep else 0.0)),)


@operator
class Dropout2D(_Channels):
    """(n, c, h, w)."""

    name = "Dropout2D"
    rank = 4


@operator
class Dropout3D(_Channels):
    """(n, c, d, h, w)."""

    name = "Dropout3D"
    rank = 5
