"""The operators that gradients of extremes begin with: Zeros, and the two that write into them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.dtypes import DType
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import TYPE_IDS, type_of
from harness.framework.ops.expansion import Composite
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def zeros(shape: tuple[int, ...], dtype: DType) -> Any:
    """Emits a tensor of zeros, made when the graph runs."""
    return emit("Zeros", shape, TYPE_IDS[dtype.name])


class _Overwriting(Composite):
    """What writes into its first argument, which was made for it."""

    overwrites = True


class _Filled(Operator):
    """Arguments: shape, number of the dtype."""

    value = 0

    def infer(self, call: Call) -> Spec:
        shape, number = call.values
        if number not in TYPE_IDS.values():
            raise call.fail(f"{number} is not a dtype's number; known are {sorted(TYPE_IDS.values())}")
        return TensorSpec(type_of(number), tuple(shape))

    def kernel(self, call: Call, shape: tuple[int, ...], _number: int) -> Array:
        return np.full(shape, self.value, call.outputs()[0].dtype.numpy)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None


@operator
class Zeros(_Filled):
    """A tensor of zeros."""

    name = "Zeros"


@operator
class Ones(_Filled):
    """A tensor of ones."""

    name = "Ones"
    value = 1


@operator
class InplaceMaskedFillTensor(_Overwriting):
    """Arguments: tensor, mask, value (a 0-d tensor)."""

    name = "InplaceMaskedFillTensor"

    def expand(self, x: Any, mask: Any, value: Any) -> Any:
        return emit("MaskedFill", x, mask, value)


@operator
class InplaceScatterSrc(_Overwriting):
    """Arguments: tensor, axis, index, source: elements along the axis replaced."""

    name = "InplaceScatterSrc"

    def expand(self, x: Any, axis: int, index: Any, source: Any) -> Any:
        return emit("TensorScatterElements", x, index, source, axis, 0)
