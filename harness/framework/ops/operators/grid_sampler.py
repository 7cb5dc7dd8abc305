"""GridSampler2D and GridSampler3D: values of pictures and volumes at places that a grid names; and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from harness.errors import DtypeError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec

_NEAREST = 1
_ZEROS, _BORDER, _REFLECTION = range(3)


def _reflected(place: Array, slope: Array, low: float, span: float) -> tuple[Array, Array]:
    """``place`` mirrored into [low, low + span], and its slope."""
    if span == 0:
        return np.zeros_like(place), np.zeros_like(place)
    away = place - low
    slope = np.where(away < 0, -slope, slope)
    away = np.abs(away)
    rest, flips = np.fmod(away, span), np.floor(away / span)
    odd = flips % 2 == 1
    return np.where(odd, span - rest, rest) + low, np.where(odd, -slope, slope)


def _place(grid: Array, size: int, padding: int, aligned: bool) -> tuple[Array, Array]:
    """Where a coordinate in [-1, 1] lies along an axis of ``size`` elements, and the slope of that."""
    factor = (size - 1) / 2 if aligned else size / 2
    place = (grid + 1) * factor - (0 if aligned else 0.5)
    slope = np.full_like(place, factor)
    if padding == _REFLECTION:
        place, slope = _reflected(place, slope, *((0, size - 1) if aligned else (-0.5, size)))
    if padding != _ZEROS:
        slope = np.where((place <= 0) | (place >= size - 1), 0, slope)
        place = np.clip(place, 0, size - 1)
    return place, slope


def _nearest(place: Array) -> Array:
    """The nearest whole numbers; halves go away from 0."""
    return np.copysign(np.floor(np.abs(place) + 0.5), place)


def _places(call: Call, grid: Array, sizes: Sequence[int], at: int) -> tuple[list[Array], list[Array]]:
    """For each axis of ``sizes``: (n, ...) places and slopes. The grid's last axis begins with the last of them."""
    padding, aligned = call.values[at + 1], call.values[at + 2]
    wide = numerics.wide(grid)
    pairs = [_place(wide[..., -1 - k], size, padding, aligned) for k, size in enumerate(sizes)]
    return [place for place, _ in pairs], [slope for _, slope in pairs]


class _Corner:
    """One corner of the cells that places fall into: its elements, and where it lies outside."""

    def __init__(self, whole: list[Array], bits: tuple[int, ...], sizes: Sequence[int]) -> None:
        spots = [w + bit for w, bit in zip(whole, bits, strict=True)]
        inside = [(spot >= 0) & (spot < size) for spot, size in zip(spots, sizes, strict=True)]
        self.inside = np.logical_and.reduce(inside)
        batch = np.arange(len(spots[0])).reshape(-1, *(1,) * (spots[0].ndim - 1))
        kept = [np.clip(spot, 0, size - 1).astype(np.int64) for spot, size in zip(spots, sizes, strict=True)]
        self.index = (np.broadcast_to(batch, self.inside.shape), slice(None), *kept)

    def values(self, x: Array) -> Array:
        """(n, ..., c): the elements of ``x`` (n, c, ...), 0 outside."""
        found: Array = x[self.index]
        return np.where(self.inside[..., None], found, 0)

    def add(self, to: Array, amount: Array) -> None:
        """Adds (n, ..., c) to the elements of ``to`` (n, c, ...)."""
        moved = np.moveaxis(to, 1, -1)
        index = (self.index[0], *self.index[2:])
        np.add.at(moved, index, np.where(self.inside[..., None], amount, 0))


class _Sampler(Operator):
    """x (n, c, *sizes), grid (n, *places, axes), and the numbers of mode and padding, and whether corners align."""

    tensors = (0, 1)
    axes = 2

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0, 1)
        x, grid = call.shape(0), call.shape(1)
        if len(x) != self.axes + 2 or len(grid) != self.axes + 2 or grid[-1] != self.axes or x[0] != grid[0]:
            raise call.fail(f"(n, c, {self.axes} sizes) and a grid (n, {self.axes} sizes, {self.axes}) are needed")
        if call.dtype(0) is not call.dtype(1):
            raise DtypeError(f"{self.name} takes tensors of one dtype, got {call.dtype(0)} and {call.dtype(1)}")
        return TensorSpec(call.dtype(0), (*x[:2], *grid[1:-1]))

    def kernel(self, call: Call, x: Array, grid: Array, mode: int, _padding: int, _aligned: bool) -> Array:
        sizes = x.shape[2:]
        places, _ = _places(call, grid, sizes, 2)
        wide = numerics.wide(x)
        if mode == _NEAREST:
            found = _Corner([_nearest(place) for place in places], (0,) * len(sizes), sizes).values(wide)
            return np.moveaxis(found, -1, 1)
        whole = [np.floor(place) for place in places]
        out: Any = 0
        for bits in product((0, 1), repeat=len(sizes)):
            weight = prod(_weights(places, whole, bits))
            out = out + _Corner(whole, bits, sizes).values(wide) * np.asarray(weight)[..., None]
        return np.moveaxis(out, -1, 1)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, grid, *settings = b.inputs
        dx, dgrid = emit(f"{self.name}Grad", b.dout, x, grid, *settings, (1, 1))
        return dx, dgrid, None, None, None


def _weights(places: list[Array], whole: list[Array], bits: tuple[int, ...]) -> list[Array]:
    """The share of a corner along each axis."""
    rests = [place - w for place, w in zip(places, whole, strict=True)]
    return [rest if bit else 1 - rest for rest, bit in zip(rests, bits, strict=True)]


class _SamplerGrad(Operator):
    """dout, x, grid and the settings: the gradients of x and grid (0 for the nearest, whose halves go to even numbers
    here, as measured)."""

    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        return TupleSpec((call.tensor(1).tensor, call.tensor(2).tensor))

    def kernel(
        self, call: Call, dout: Array, x: Array, grid: Array, mode: int, _padding: int, _aligned: bool, _mask: Any
    ) -> tuple[Array, Array]:
        sizes = x.shape[2:]
        places, slopes = _places(call, grid, sizes, 3)
        wide, amount = numerics.wide(x), np.moveaxis(numerics.wide(dout), 1, -1)
        dx, dgrid = np.zeros(x.shape), np.zeros(grid.shape)
        if mode == _NEAREST:
            _Corner([np.rint(place) for place in places], (0,) * len(sizes), sizes).add(dx, amount)
            return dx, dgrid
        whole = [np.floor(place) for place in places]
        for bits in product((0, 1), repeat=len(sizes)):
            weights, corner = _weights(places, whole, bits), _Corner(whole, bits, sizes)
            corner.add(dx, amount * np.asarray(prod(weights))[..., None])
            share = numerics.total(corner.values(wide) * amount, -1)
            for axis, (bit, slope) in enumerate(zip(bits, slopes, strict=True)):
                others = prod(w for k, w in enumerate(weights) if k != axis)
                dgrid[..., -1 - axis] += (1 if bit else -1) * slope * others * share
        return dx, dgrid


@operator
class GridSampler2D(_Sampler):
    """Of pictures: ``_Sampler`` of two axes."""

    name = "GridSampler2D"


@operator
class GridSampler2DGrad(_SamplerGrad):
    """See ``_SamplerGrad``."""

    name = "GridSampler2DGrad"


@operator
class GridSampler3D(_Sampler):
    """Of volumes: ``_Sampler`` of three axes."""

    name = "GridSampler3D"
    axes = 3


@operator
class GridSampler3DGrad(_SamplerGrad):
    """See ``_SamplerGrad``."""

    name = "GridSampler3DGrad"
