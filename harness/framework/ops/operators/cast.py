"""Cast: the same values in another dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.dtypes import DType
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import type_of
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class Cast(Operator):
    """``x`` in the dtype (or the number of the dtype) that is argument 1; the conversion is the one rounding."""

    name = "Cast"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        target = call.values[1]
        if isinstance(target, np.ndarray):
            target = type_of(target)
        if not isinstance(target, DType):
            raise call.fail(f"argument 1 must be a dtype, got {target!r}")
        return TensorSpec(target, call.shape(0))

    def kernel(self, call: Call, x: Array, _dtype: Any) -> Array:
        dtype = call.outputs()[0].dtype
        if dtype.kind == "b":
            return np.not_equal(x, 0)
        return np.real(x) if x.dtype.kind == "c" and dtype.kind != "c" else x

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("Cast", b.dout, b.inputs[0].dtype), None
