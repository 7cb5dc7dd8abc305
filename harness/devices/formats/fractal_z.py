"""FRACTAL_Z and FRACTAL_Z_3D: weights of convolutions as blocks of 16 outputs by C0 inputs.

Shape ([D *] C1 * H * W, N1, 16, C0) with C1 = ceil(C / C0), N1 = ceil(N / 16); element (n, c, [d,] h, w) stands at row
(([d * C1 +] c // C0) * H + h) * W + w, block n // 16, place (n % 16, c % C0). Padding is 0.

With groups G > 1 several groups share blocks. A weight of G * Co outputs and Cin inputs a group puts
E = min(lcm(lcm(Cin, C0) / Cin, lcm(Co, 16) / Co), G) groups side by side: group g is number e = g % E of its bundle
g // E, its inputs stand at e * Cin + c and its outputs at e * Co + n of a weight of E * Cin inputs and E * Co outputs
that is otherwise 0; bundles follow one another in the first dimension.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import Any

import numpy as np

from harness.devices.formats.base import Array, Shape, StorageFormat, storage_format
from harness.devices.formats.blocks import N0, ceil_div, product, split, widen


@dataclass(frozen=True, slots=True)
class _Bundles:
    """How the groups of a weight are put side by side.

    Attributes:
        groups: G.
        inputs, outputs: Cin, Co of one group.
        size: E, groups in a bundle.
    """

    groups: int
    inputs: int
    outputs: int
    size: int

    @property
    def count(self) -> int:
        """Bundles."""
        return ceil_div(self.groups, self.size)


def _bundles(n: int, c: int, c0: int, groups: int) -> _Bundles:
    """For a weight of ``n`` outputs in all and ``c`` inputs a group; an empty group counts as one of 1."""
    inputs, outputs = max(c, 1), max(n // groups, 1)
    size = min(lcm(lcm(inputs, c0) // inputs, lcm(outputs, N0) // outputs), groups)
    return _Bundles(groups, c, n // groups, size)


@storage_format
class FractalZ(StorageFormat):
    """Weights (N, C, H, W); with ``groups``, C is that of one group."""

    name = "FRACTAL_Z"
    rank = 4
    grouped = True

    def _device_shape(self, shape: Shape, c0: int, groups: int) -> Shape:
        n, c, h, w = shape
        if groups == 1:
            return product(ceil_div(c, c0), h, w), ceil_div(n, N0), N0, c0
        if -1 in (n, c):
            return -1, -1, N0, c0
        of = _bundles(n, c, c0, groups)
        rows = product(of.count, ceil_div(of.size * c, c0), h, w)
        return rows, ceil_div(of.size * of.outputs, N0), N0, c0

    def _to_device(self, array: Array, c0: int, groups: int, fill: Any) -> Array:
        n, c, h, w = array.shape
        of = _bundles(n, c, c0, groups)
        whole = array if groups == 1 else _side_by_side(array, of)
        bundled = whole.reshape(of.count, of.size * of.outputs, of.size * c, h, w)
        blocks = split(split(widen(widen(bundled, 1, N0), 2, c0), 2, c0), 1, N0)
        # bundle, N1, 16, C1, C0, H, W
        ordered = blocks.transpose(0, 3, 5, 6, 1, 2, 4)
        return ordered.reshape(self._device_shape(array.shape, c0, groups))

    def _to_host(self, array: Array, shape: Shape, groups: int) -> Array:
        n, c, h, w = shape
        of = _bundles(n, c, array.shape[-1], groups)
        c1 = ceil_div(of.size * c, array.shape[-1])
        blocks = array.reshape(of.count, c1, h, w, *array.shape[1:]).transpose(0, 4, 5, 1, 6, 2, 3)
        bundled = blocks.reshape(of.count, array.shape[1] * N0, c1 * array.shape[-1], h, w)
        bundled = bundled[:, : of.size * of.outputs, : of.size * c]
        return bundled.reshape(shape) if groups == 1 else _apart(bundled, of).reshape(shape)


def _side_by_side(array: Array, of: _Bundles) -> Array:
    """(G * Co, Cin, H, W) as bundles (count, E, Co, E, Cin, H, W), each group on the diagonal of its bundle."""
    _, c, h, w = array.shape
    out = np.zeros((of.count, of.size, of.outputs, of.size, c, h, w), array.dtype)
    each = np.arange(of.size)
    grouped = widen(array.reshape(of.groups, of.outputs, c, h, w), 0, of.size)
    out[:, each, :, each] = grouped.reshape(of.count, of.size, of.outputs, c, h, w).transpose(1, 0, 2, 3, 4, 5)
    return out


def _apart(bundled: Array, of: _Bundles) -> Array:
    """The reverse of ``_side_by_side``, from (count, E * Co, E * Cin, H, W)."""
    h, w = bundled.shape[3:]
    wide = bundled.reshape(of.count, of.size, of.outputs, of.size, of.inputs, h, w)
    each = np.arange(of.size)
    groups = wide[:, each, :, each].transpose(1, 0, 2, 3, 4, 5)
    return groups.reshape(of.count * of.size, of.outputs, of.inputs, h, w)[: of.groups]


@storage_format
class FractalZ3D(StorageFormat):
    """Weights (N, C, D, H, W) of three-dimensional convolutions."""

    name = "FRACTAL_Z_3D"
    rank = 5

    def _device_shape(self, shape: Shape, c0: int, groups: int) -> Shape:
        n, c, d, h, w = shape
        return product(d, ceil_div(c, c0), h, w), ceil_div(n, N0), N0, c0

    def _to_device(self, array: Array, c0: int, groups: int, fill: Any) -> Array:
        blocks = split(split(widen(widen(array, 0, N0), 1, c0), 1, c0), 0, N0)
        # N1, 16, C1, C0, D, H, W
        return blocks.transpose(4, 2, 5, 6, 0, 1, 3).reshape(self._device_shape(array.shape, c0, groups))

    def _to_host(self, array: Array, shape: Shape, groups: int) -> Array:
        n, c, d, h, w = shape
        c0 = array.shape[-1]
        c1 = ceil_div(c, c0)
        blocks = array.reshape(d, c1, h, w, *array.shape[1:]).transpose(4, 5, 1, 6, 0, 2, 3)
        return blocks.reshape(array.shape[1] * N0, c1 * c0, d, h, w)[:n, :c]
