"""AdaptiveMaxPool2D and 3D: the largest value of as many windows as the result has places; and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.operators.adaptive_avg_pool import at_end, windows
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


class _Largest(Operator):
    """x (n, c, ...), size of the result along the last axes: the largest values, and their places in an image."""

    tensors: ClassVar[tuple[int, ...]] = (0,)
    #: axes pooled over
    rank: ClassVar[int]
    #: of the places
    places: ClassVar[DType]

    def infer(self, call: Call) -> Spec:
        x, size = call.tensor(0), ints(call, 1)
        if (
            len(x.shape) not in (self.rank + 1, self.rank + 2)
            or len(size) != self.rank
            or any(n < 1 and n != -1 for n in size)
        ):
            raise call.fail(f"{self.rank + 1} or {self.rank + 2} axes and {self.rank} sizes above 0 are needed")
        sides = zip(size, x.shape[-self.rank :], strict=True)
        shape = (*x.shape[: -self.rank], *(given if n == -1 else n for n, given in sides))
        return TupleSpec((TensorSpec(x.dtype, shape), TensorSpec(self.places, shape)))

    def kernel(self, call: Call, x: Array, _size: Any) -> tuple[Array, Array]:
        shape, sides = call.outputs()[0].shape, x.shape[-self.rank :]
        best, found = np.zeros(shape), np.zeros(shape, np.int64)
        numbers = np.arange(np.prod(sides)).reshape(sides)
        for at, covered in windows(sides, shape[-self.rank :]):
            part = numerics.wide(x)[at_end(covered)].reshape(*shape[: -self.rank], -1)
            best[at_end(at)] = part.max(axis=-1)
            found[at_end(at)] = numbers[covered].reshape(-1)[part.argmax(axis=-1)]
        return best, found


@operator
class AdaptiveMaxPool2D(_Largest):
    """Places are int64."""

    name = "AdaptiveMaxPool2D"
    rank = 2
    places = dtypes.int64

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("AdaptiveMaxPool2DGrad", b.dout[0], b.inputs[0], b.out[1]), None


@operator
class AdaptiveMaxPool3D(_Largest):
    """Places are int32."""

    name = "AdaptiveMaxPool3D"
    functional = False
    tensors = (0, 1)
    rank = 3
    places = dtypes.int32

    def gradient(self, b: Backward) -> Sequence[Any]:
        names: dict[str, Any] = {"output_names": ("output_grad",), "input_names": ("input_grad", "x", "argmax")}
        return emit("AdaptiveMaxPool3DGrad", b.dout[0], b.inputs[0], b.out[1], **names), None


class _LargestGrad(Operator):
    """dout, x, places: dout added at each place."""

    rank: ClassVar[int]

    def infer(self, call: Call) -> Spec:
        return call.tensor(1).tensor

    def kernel(self, call: Call, dout: Array, x: Array, found: Array) -> Array:
        rows = int(np.prod(x.shape[: -self.rank]))
        result = np.zeros((rows, int(np.prod(x.shape[-self.rank :]))))
        np.add.at(result, (np.arange(rows)[:, None], found.reshape(rows, -1)), numerics.wide(dout).reshape(rows, -1))
        return result.reshape(x.shape)


@operator
class AdaptiveMaxPool2DGrad(_LargestGrad):
    """Over images."""

    name = "AdaptiveMaxPool2DGrad"
    rank = 2


@operator
class AdaptiveMaxPool3DGrad(_LargestGrad):
    """Over volumes."""

    name = "AdaptiveMaxPool3DGrad"
    functional = False
    rank = 3
