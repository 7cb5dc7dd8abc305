"""ResizeBicubic of (n, c, h, w), UpsampleNearest1D to 3D of (n, c, ...) and UpsampleTrilinear3D of (n, c, d, h, w); and
their gradients.

Source of the rules of places and shares: MindSpore 2.10.0 CPU, measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.elementwise import check_kind
from harness.framework.ops.operators.resize import nearest, scale, weights
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec

#: a place's part between two elements is rounded to one of so many
_PARTS = 1024


def _curve(part: Array, bend: float) -> tuple[Array, Array]:
    """Keys' cubic at a distance ``part`` in [0, 1], and at one more."""
    near = ((bend + 2) * part - (bend + 3)) * part * part + 1
    far = part + 1
    return near, ((bend * far - 5 * bend) * far + 8 * bend) * far - 4 * bend


def cubic(given: int, wanted: int, align: bool, half: bool) -> Array:
    """(wanted, given): the share each input place has in each place of the result. With half pixel centers places
    outside have none, and the others' are made to sum to 1; else the edge stands for them."""
    at, step = np.arange(wanted, dtype=np.float32), scale(given, wanted, align)
    place = (at + np.float32(0.5)) * step - np.float32(0.5) if half else at * step
    floor = np.floor(place)
    offset = np.rint((place - floor) * np.float32(_PARTS)).astype(np.int64)
    bend = -0.5 if half else -0.75
    before, after = _curve(offset / _PARTS, bend), _curve((_PARTS - offset) / _PARTS, bend)
    out, rows = np.zeros((wanted, given)), np.arange(wanted)
    for shift, share in zip((-1, 0, 1, 2), (before[1], before[0], after[0], after[1]), strict=True):
        spot = floor.astype(np.int64) + shift
        kept = np.clip(spot, 0, given - 1)
        np.add.at(out, (rows, kept), np.where(kept == spot, share, 0) if half else share)
    return out / out.sum(-1, keepdims=True) if half else out


@operator
class ResizeBicubic(Operator):
    """x, size, align corners, half pixel centers: the sixteen nearest elements, by Keys' cubic."""

    name = "ResizeBicubic"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        size = ints(call, 1)
        if len(call.shape(0)) != 4 or len(size) != 2 or min(size) < 1:
            raise call.fail(f"a tensor of 4 axes and 2 sizes above 0 are needed, got {list(size)}")
        return TensorSpec(call.dtype(0), (*call.shape(0)[:2], *size))

    def kernel(self, call: Call, x: Array, _size: Any, align: bool, half: bool) -> Array:
        height, width = call.outputs()[0].shape[2:]
        rows, columns = cubic(x.shape[2], height, align, half), cubic(x.shape[3], width, align, half)
        return numerics.matmul(numerics.matmul(rows[None, None], numerics.wide(x)), columns.T[None, None])

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, _, align, half = b.inputs
        return (emit("ResizeBicubicGrad", b.dout, x, align, half),)


@operator
class ResizeBicubicGrad(Operator):
    """dout, x, align corners, half pixel centers."""

    name = "ResizeBicubicGrad"
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(0), call.shape(1))

    def kernel(self, call: Call, dout: Array, x: Array, align: bool, half: bool) -> Array:
        rows = cubic(x.shape[2], dout.shape[2], align, half)
        columns = cubic(x.shape[3], dout.shape[3], align, half)
        return numerics.matmul(numerics.matmul(rows.T[None, None], numerics.wide(dout)), columns[None, None])


def _sides(call: Call, axes: int) -> tuple[int, ...]:
    """The last axes of a result: the sizes asked for, or the given ones times factors."""
    given, size, factors = call.shape(0)[2:], call.values[1], call.values[2]
    if (size is None) == (factors is None):
        raise call.fail("either sizes or factors are needed")
    sides = tuple(size) if factors is None else tuple(math.floor(n * f) for n, f in zip(given, factors, strict=False))
    if len(given) != axes or len(sides) != axes or min(sides) < 1:
        raise call.fail(f"a tensor of {axes + 2} axes and {axes} sizes above 0 are needed, got {list(sides)}")
    return sides


def _steps(given: Sequence[int], wanted: Sequence[int], factors: Any, align: bool) -> list[np.float32]:
    """For each axis the step in the input for one step of the result."""
    if factors is None or align:
        return [scale(n, m, align) for n, m in zip(given, wanted, strict=True)]
    return [np.float32(1 / factor) for factor in factors]


class _Upsample(Operator):
    """x, sizes or None, factors or None, and what a kind of it adds."""

    tensors = (0,)
    axes: ClassVar[int] = 3

    def shares(self, given: int, wanted: int, step: np.float32, align: bool) -> Array:
        """(wanted, given): the share each input place has in each place of the result."""
        raise NotImplementedError

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        return TensorSpec(call.dtype(0), (*call.shape(0)[:2], *_sides(call, self.axes)))

    def kernel(self, call: Call, x: Array, _size: Any, factors: Any, align: bool = False) -> Array:
        return self.spread(numerics.wide(x), x.shape[2:], call.outputs()[0].shape[2:], factors, align, False)

    def spread(
        self, x: Array, given: Sequence[int], wanted: Sequence[int], factors: Any, align: bool, back: bool
    ) -> Array:
        """``x`` along each axis after the second, or ``back``."""
        out = x
        for axis, step in enumerate(_steps(given, wanted, factors, align)):
            share = self.shares(given[axis], wanted[axis], step, align)
            moved = np.moveaxis(out, 2 + axis, -1)
            product = numerics.matmul(moved, (share if back else share.T)[(None,) * (moved.ndim - 2)])
            out = np.moveaxis(product, -1, 2 + axis)
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, *settings = b.inputs
        return (emit(f"{self.name}Grad", b.dout, tuple(x.shape), *settings),)


class _UpsampleGrad(Operator):
    """dout, the shape of x, and the settings."""

    tensors = (0,)
    of: _Upsample

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(0), ints(call, 1))

    def kernel(self, call: Call, dout: Array, shape: Any, _size: Any, factors: Any, align: bool = False) -> Array:
        given = tuple(shape)[2:]
        return self.of.spread(numerics.wide(dout), given, dout.shape[2:], factors, align, True)


class _Nearest(_Upsample):
    """The nearest element for each place of the result. A factor that leaves an axis as long as it is, or doubles it,
    counts for 1 or 2, whatever its fraction (measured)."""

    arguments = 3
    unread = frozenset({1})

    def shares(self, given: int, wanted: int, step: np.float32, align: bool) -> Array:
        out = np.zeros((wanted, given))
        if wanted in (given, 2 * given):
            step = np.float32(given / wanted)
        out[np.arange(wanted), nearest(given, wanted, False, False, step)] = 1
        return out


@operator
class UpsampleNearest1D(_Nearest):
    """Of rows."""

    name = "UpsampleNearest1D"
    axes = 1


@operator
class UpsampleNearest2D(_Nearest):
    """Of pictures."""

    name = "UpsampleNearest2D"
    axes = 2


@operator
class UpsampleNearest3D(_Nearest):
    """Of volumes."""

    name = "UpsampleNearest3D"


class _NearestGrad(_UpsampleGrad):
    arguments = 4
    unread = frozenset({2})


@operator
class UpsampleNearest1DGrad(_NearestGrad):
    """See ``UpsampleNearest1D``."""

    name = "UpsampleNearest1DGrad"
    of = UpsampleNearest1D()


@operator
class UpsampleNearest2DGrad(_NearestGrad):
    """See ``UpsampleNearest2D``."""

    name = "UpsampleNearest2DGrad"
    of = UpsampleNearest2D()


@operator
class UpsampleNearest3DGrad(_NearestGrad):
    """See ``UpsampleNearest3D``."""

    name = "UpsampleNearest3DGrad"
    of = UpsampleNearest3D()


@operator
class UpsampleTrilinear3D(_Upsample):
    """The mean of the eight nearest elements, by distance; also takes whether the outer elements stay so."""

    name = "UpsampleTrilinear3D"

    def shares(self, given: int, wanted: int, step: np.float32, align: bool) -> Array:
        return weights(given, wanted, align, not align, step)


@operator
class UpsampleTrilinear3DGrad(_UpsampleGrad):
    """See ``UpsampleTrilinear3D``."""

    name = "UpsampleTrilinear3DGrad"
    of = UpsampleTrilinear3D()
