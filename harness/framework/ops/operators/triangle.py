"""Tril and Triu: one side of the diagonal of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.tensor import call as emit
from harness.graph import Spec


@operator
class Tril(Operator):
    """Zeros above diagonal number ``diagonal`` (an attribute; 0 is the main one, negative ones lie below)."""

    name = "Tril"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        return _matrix(call)

    def kernel(self, call: Call, x: Array) -> Array:
        return np.tril(x, call.attrs["diagonal"])

    def gradient(self, b: Backward) -> Sequence[Any]:
        diagonal = b.attrs["diagonal"]
        return (emit("Tril", b.dout, output_names=("y",), diagonal=diagonal, input_names=("x",)),)


@operator
class Triu(Operator):
    """Zeros below diagonal number argument 1."""

    name = "Triu"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        return _matrix(call)

    def kernel(self, call: Call, x: Array, diagonal: Any) -> Array:
        return np.triu(x, ints(call, 1)[0])

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("Triu", b.dout, b.inputs[1]), None


def _matrix(call: Call) -> Spec:
    if len(call.shape(0)) < 2:
        raise call.fail("a tensor of at least two dimensions is needed")
    return call.tensor(0).tensor
