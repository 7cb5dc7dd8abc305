"""Identity: what the primitive of that name shows; ``ops.identity`` and ``nn.Identity`` show nothing.

ConvertToDynamic: the same values; the shape stays known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.graph import Spec


@operator
class Identity(Operator):
    """``x``."""

    name = "Identity"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array) -> Array:
        return x.copy()

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (b.dout,)


@operator
class ConvertToDynamic(Identity):
    """``x``."""

    name = "ConvertToDynamic"
