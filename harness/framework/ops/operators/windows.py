"""HammingWindow, BartlettWindow and BlackmanWindow: weights of the elements of a stretch."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from harness import dtypes
from harness.errors import DtypeError
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.graph import Spec, TensorSpec


class _Window(Operator):
    """The length, an Int32 or Int64 tensor. Attribute ``periodic``: the window of one more, without the last."""

    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        if call.dtype(0) not in (dtypes.int32, dtypes.int64):
            raise DtypeError(f"{self.name}: the length must be Int32 or Int64, got {call.dtype(0)}")
        if call.shape(0):
            raise call.fail("the length must be a tensor without dimensions")
        return TensorSpec(call.attrs["dtype"], (-1,))

    def kernel(self, call: Call, length: Array) -> Array:
        count = int(np.reshape(length, -1)[0])
        if count < 2:
            return np.ones(max(count, 0))
        return self.weights(call, np.arange(count) / (count if call.attrs["periodic"] else count - 1))

    def weights(self, call: Call, place: Array) -> Array:
        """The weights at places from 0 to 1."""
        raise NotImplementedError


@operator
class BartlettWindow(_Window):
    """A triangle."""

    name = "BartlettWindow"

    def weights(self, call: Call, place: Array) -> Array:
        return np.asarray(1 - np.abs(2 * place - 1))


@operator
class BlackmanWindow(_Window):
    """0.42 - 0.5 cos + 0.08 cos of twice the angle."""

    name = "BlackmanWindow"

    def weights(self, call: Call, place: Array) -> Array:
        return np.asarray(0.42) - 0.5 * np.cos(2 * np.pi * place) + 0.08 * np.cos(4 * np.pi * place)


@operator
class HammingWindow(_Window):
    """``alpha`` - ``beta`` cos; the length is a constant. Attribute ``dtype``: 0 Float32, 1 Float16, 11 Float64."""

    name = "HammingWindow"
    kinds: ClassVar = {0: dtypes.float32, 1: dtypes.float16, 11: dtypes.float64}

    def infer(self, call: Call) -> Spec:
        return TensorSpec(self.kinds[call.attrs["dtype"]], ints(call, 0))

    def weights(self, call: Call, place: Array) -> Array:
        alpha, beta = (np.float64(call.attrs[name]) for name in ("alpha", "beta"))
        return np.asarray(alpha - beta * np.cos(2 * np.pi * place))
