"""AdaptiveAvgPool2D and 3D: means over as many windows as the result has places; and their gradients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any, ClassVar

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import int_tensor, ints
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def spans(length: int, count: int) -> list[tuple[int, int]]:
    """Begin and end of each of ``count`` windows, which may overlap, over an axis of ``length``."""
    return [(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]


def windows(size: Sequence[int], count: Sequence[int]) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """The place of each window along the last axes, and what it covers."""
    axes = [spans(n, k) for n, k in zip(size, count, strict=True)]
    for at in product(*(range(k) for k in count)):
        yield at, tuple(slice(*axis[i]) for axis, i in zip(axes, at, strict=True))


def at_end(index: tuple[Any, ...]) -> Any:
    """The index ``index`` of the last axes."""
    return (..., *index)


class _Means(Operator):
    """x (..., attribute ``output_size``): means of as many windows along the last axes; -1 keeps an axis."""

    functional = False
    tensors = (0,)
    #: axes pooled over
    rank: ClassVar[int]

    def infer(self, call: Call) -> Spec:
        x, size = call.tensor(0), call.attrs["output_size"]
        if len(x.shape) not in (self.rank + 1, self.rank + 2) or any(n < -1 for n in size):
            raise call.fail(
                f"{self.rank + 1} or {self.rank + 2} axes and an output size of 0 or more are needed, got {size}"
            )
        kept = len(x.shape) - self.rank
        sides = tuple(given if n == -1 else n for n, given in zip(size, x.shape[kept:], strict=True))
        return TensorSpec(x.dtype, (*x.shape[:kept], *sides))

    def kernel(self, call: Call, x: Array) -> Array:
        out = np.zeros(call.outputs()[0].shape)
        axes = tuple(range(-self.rank, 0))
        for at, covered in windows(x.shape[-self.rank :], out.shape[-self.rank :]):
            part = numerics.wide(x)[at_end(covered)]
            out[at_end(at)] = numerics.total(part, axes) / prod(part.shape[-self.rank :])
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        attrs: dict[str, Any] = {"output_names": ("output_grad",), "input_names": ("input_grad", "orig_input_shape")}
        return (emit(f"{self.name}Grad", b.dout, self.shape_of(b.inputs[0]), **attrs),)

    def shape_of(self, x: Tensor) -> Any:
        """The shape of ``x`` as the gradient takes it."""
        raise NotImplementedError


@operator
class AdaptiveAvgPool2D(_Means):
    """x (..., h, w)."""

    name = "AdaptiveAvgPool2D"
    rank = 2

    def shape_of(self, x: Tensor) -> Any:
        return int_tensor(x.shape)


@operator
class AdaptiveAvgPool3D(_Means):
    """x (..., d, h, w)."""

    name = "AdaptiveAvgPool3D"
    rank = 3

    def shape_of(self, x: Tensor) -> Any:
        return Tensor(np.array(x.shape, np.int32))


class _MeansGrad(Operator):
    """dout, shape of the input."""

    functional = False
    rank: ClassVar[int]

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(0), ints(call, 1))

    def kernel(self, call: Call, dout: Array, _shape: Array) -> Array:
        out = np.zeros(call.outputs()[0].shape)
        for at, covered in windows(out.shape[-self.rank :], dout.shape[-self.rank :]):
            part = out[at_end(covered)]
            part += numerics.wide(dout)[at_end(at)].reshape(*dout.shape[: -self.rank], *[1] * self.rank) / prod(
                part.shape[-self.rank :]
            )
        return out


@operator
class AdaptiveAvgPool2DGrad(_MeansGrad):
    """Each share put where its window was."""

    name = "AdaptiveAvgPool2DGrad"
    rank = 2


@operator
class AdaptiveAvgPool3DGrad(_MeansGrad):
    """Each share put where its window was."""

    name = "AdaptiveAvgPool3DGrad"
    rank = 3
