"""FRACTAL_NZ: matrices as blocks of 16 rows by C0 columns, block columns outermost.

Shape (..., W1, H1, 16, C0) for (..., m, n) with H1 = ceil(m / 16), W1 = ceil(n / C0); element (i, j) stands at
(j // C0, i // 16, i % 16, j % C0). MindSpore leaves the padding as the memory was: it is 0 here unless ``pad`` says
otherwise, and ``to_host`` never reads it.

A vector (x,) is kept as it is where x is 1 or a multiple of C0; MindSpore refuses others. As part of a device buffer it
may also lie as the matrix (1, x); ``to_host`` takes both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.devices.formats.base import Array, Shape, StorageFormat, storage_format
from harness.devices.formats.blocks import M0, ceil_div, split, widen
from harness.errors import ShapeError


@storage_format
class FractalNz(StorageFormat):
    """Matrices of any number of leading dimensions."""

    name = "FRACTAL_NZ"
    _pads_freely = True

    def _device_shape(self, shape: Shape, c0: int, groups: int) -> Shape:
        if not shape:
            raise ShapeError(f"{self.name} holds no scalar")
        if len(shape) == 1:
            if shape[0] not in (-1, 1) and shape[0] % c0:
                raise ShapeError(f"{self.name}: a vector has 1 or a multiple of {c0} elements, got {list(shape)}")
            return shape
        *lead, m, n = shape
        return *lead, ceil_div(n, c0), ceil_div(m, M0), M0, c0

    def _to_device(self, array: Array, c0: int, groups: int, fill: Any) -> Array:
        self._device_shape(array.shape, c0, groups)
        if array.ndim == 1:
            return array
        rows, columns = array.ndim - 2, array.ndim - 1
        wide = widen(widen(array, columns, c0, fill), rows, M0, fill)
        blocks = split(split(wide, columns, c0), rows, M0)
        lead = tuple(range(rows))
        return blocks.transpose(*lead, rows + 2, rows, rows + 1, rows + 3)

    def _to_host(self, array: Array, shape: Shape, groups: int) -> Array:
        if array.ndim == 1:
            return array
        *lead, w1, h1, m0, c0 = array.shape
        at = len(lead)
        whole = array.transpose(*range(at), at + 1, at + 2, at, at + 3).reshape(*lead, h1 * m0, w1 * c0)
        return whole[..., : shape[-2], : shape[-1]]

    def to_host(self, array: Array, shape: Sequence[int], *, groups: int = 1, axes: str | None = None) -> Array:
        """See ``StorageFormat.to_host``; a vector may lie as the matrix of one row."""
        if len(shape) == 1 and array.ndim > 1:
            row = super().to_host(array.reshape(array.shape[-4:]), (1, *shape), groups=groups, axes=axes)
            return row.reshape(tuple(shape))
        return super().to_host(array, shape, groups=groups, axes=axes)
