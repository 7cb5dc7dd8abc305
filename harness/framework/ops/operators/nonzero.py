"""NonZero: the places where a tensor is not 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.graph import Spec, TensorSpec


@operator
class NonZero(Operator):
    """Indices (Int64, one row each) of the elements that are not 0, in order; their number is known only at run
    time."""

    name = "NonZero"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        return TensorSpec(dtypes.int64, (-1, len(call.shape(0))))

    def kernel(self, call: Call, x: Array) -> Array:
        return np.argwhere(x != 0).astype(np.int64)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (None,)
