"""MaxUnpool2D and 3D: values put back to the places where a pooling found them; and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from harness.errors import KernelError
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def _rows(x: Array, rank: int) -> Array:
    """One row for each image or volume."""
    return x.reshape(int(np.prod(x.shape[:-rank])), -1)


class _Unpool(Operator):
    """x (..., sides), places in the result: zeros but for the values of ``x``."""

    functional = False
    tensors = (0, 1)
    #: axes unpooled over
    rank: ClassVar[int]

    def infer(self, call: Call) -> Spec:
        x, attrs = call.tensor(0), call.attrs
        if call.shape(1) != x.shape or len(x.shape) not in (self.rank + 1, self.rank + 2):
            raise call.fail(f"values and places of one shape of {self.rank + 1} or {self.rank + 2} axes are needed")
        given = tuple(attrs["output_shape"])
        if given:
            return TensorSpec(x.dtype, given)
        axes = zip(x.shape[-self.rank :], attrs["strides"][2:], attrs["ksize"][2:], attrs["pads"][2:], strict=True)
        return TensorSpec(x.dtype, (*x.shape[: -self.rank], *((n - 1) * s - 2 * p + k for n, s, k, p in axes)))

    def kernel(self, call: Call, x: Array, found: Array) -> Array:
        shape = call.outputs()[0].shape
        result = _rows(np.zeros(shape, x.dtype), self.rank)
        places = _rows(found, self.rank)
        if places.size and not 0 <= places.min() <= places.max() < result.shape[1]:
            raise KernelError(f"{self.name}: places must lie in [0, {result.shape[1]}), got {places.min()} to "
                              f"{places.max()}")  # fmt: skip
        np.put_along_axis(result, places, _rows(x, self.rank), 1)
        return result.reshape(shape)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, found = b.inputs
        names = {"input_names": ("x", "grads", "argmax"), "output_names": ("y",)}
        attrs = {name: names.get(name, value) for name, value in b.attrs.items()}
        return emit(f"{self.name}Grad", x, b.dout, found, **attrs), None


@operator
class MaxUnpool2D(_Unpool):
    """Over images."""

    name = "MaxUnpool2D"
    rank = 2


@operator
class MaxUnpool3D(_Unpool):
    """Over volumes."""

    name = "MaxUnpool3D"
    rank = 3


class _UnpoolGrad(Operator):
    """x, dout, places: dout at each place."""

    functional = False
    rank: ClassVar[int]

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, dout: Array, found: Array) -> Array:
        return np.take_along_axis(_rows(dout, self.rank), _rows(found, self.rank), 1).reshape(x.shape)


@operator
class MaxUnpool2DGrad(_UnpoolGrad):
    """Over images."""

    name = "MaxUnpool2DGrad"
    rank = 2


@operator
class MaxUnpool3DGrad(_UnpoolGrad):
    """Over volumes."""

    name = "MaxUnpool3DGrad"
    rank = 3
