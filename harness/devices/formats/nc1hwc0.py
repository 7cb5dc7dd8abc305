"""NC1HWC0, NC1HWC0_C04 and NDC1HWC0: channels in blocks of C0, the block innermost.

Shape (N, [D,] C1, H, W, C0) with C1 = ceil(C / C0); element (n, [d,] c, h, w) stands at
(n, [d,] c // C0, h, w, c % C0). The padding of C is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.devices.formats.base import Array, Shape, StorageFormat, storage_format
from harness.devices.formats.blocks import C04, ceil_div, split, widen
from harness.errors import ShapeError


@storage_format
class NC1HWC0(StorageFormat):
    """Feature maps of convolutions."""

    name = "NC1HWC0"
    rank = 4

    def _device_shape(self, shape: Shape, c0: int, groups: int) -> Shape:
        n, c, h, w = shape
        return n, ceil_div(c, c0), h, w, c0

    def _to_device(self, array: Array, c0: int, groups: int, fill: Any) -> Array:
        return split(widen(array, 1, c0), 1, c0).transpose(0, 1, 3, 4, 2)

    def _to_host(self, array: Array, shape: Shape, groups: int) -> Array:
        n, c1, h, w, c0 = array.shape
        return array.transpose(0, 1, 4, 2, 3).reshape(n, c1 * c0, h, w)[:, : shape[1]]


@storage_format
class NC1HWC0C04(NC1HWC0):
    """The same with C0 = 4, for images of few channels."""

    name = "NC1HWC0_C04"
    fixed_c0 = C04


@storage_format
class NDC1HWC0(StorageFormat):
    """Feature maps of three-dimensional convolutions. A shape of 6 dimensions is taken as a device shape already."""

    name = "NDC1HWC0"
    rank = 5

    def _padded(self, shape: Sequence[int], axes: str | None) -> Shape:
        if len(shape) == 6 and axes is None:
            return tuple(shape)
        return super()._padded(shape, axes)

    def _device_shape(self, shape: Shape, c0: int, groups: int) -> Shape:
        if len(shape) == 6:
            return shape
        n, c, d, h, w = shape
        return n, d, ceil_div(c, c0), h, w, c0

    def _to_device(self, array: Array, c0: int, groups: int, fill: Any) -> Array:
        if array.ndim == 6:
            return array
        return split(widen(array, 1, c0), 1, c0).transpose(0, 3, 1, 4, 5, 2)

    def _to_host(self, array: Array, shape: Shape, groups: int) -> Array:
        if len(shape) == 6:
            return array
        if array.ndim != 6:
            raise ShapeError(f"{self.name}: a device tensor has 6 dimensions, got {list(array.shape)}")
        n, d, c1, h, w, c0 = array.shape
        return array.transpose(0, 2, 5, 1, 3, 4).reshape(n, c1 * c0, d, h, w)[:, : shape[1]]
