"""FillV2: one value in a given shape, and the tensor methods that use it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.expansion import Composite, scalar
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class FillV2(Operator):
    """Shape, and a tensor without dimensions that fills it."""

    name = "FillV2"
    functional = False
    tensors = (1,)

    def infer(self, call: Call) -> Spec:
        shape = ints(call, 0)
        if call.tensor(1).size != 1 or any(n < 0 for n in shape):
            raise call.fail("one value and a shape without negative lengths are needed")
        return TensorSpec(call.dtype(1), shape)

    def kernel(self, call: Call, _shape: Any, value: Array) -> Array:
        return np.full(call.outputs()[0].shape, value.reshape(()), value.dtype)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, emit("SumExt", b.dout, (), False, None)


class _New(Composite):
    value = 0

    def expand(self, shape: Any, dtype: Any) -> Any:
        attrs: dict[str, Any] = {"output_names": ("y",), "input_names": ("shape", "value")}
        return emit("FillV2", shape, scalar(self.value, dtype), **attrs)


@operator
class NewZeros(_New):
    """Zeros: shape and dtype."""

    name = "NewZeros"


@operator
class NewOnes(_New):
    """Ones: shape and dtype."""

    name = "NewOnes"
    value = 1
