"""FRACTAL_Z_C04: weights of at most 4 input channels, pixels and channels in one row of blocks.

Shape (K1, N1, 16, 16) with K1 = ceil(4 * H * W / 16), N1 = ceil(N / 16); element (n, c, h, w) has
k = (h * W + w) * 4 + c and stands at (k // 16, n // 16, n % 16, k % 16). Padding is 0. The block is 16 wide whatever
the dtype.
"""

from __future__ import annotations

from typing import Any

from harness.devices.formats.base import Array, Shape, StorageFormat, storage_format
from harness.devices.formats.blocks import C04, N0, ceil_div, extend, product, split, widen
from harness.errors import ShapeError

K0 = 16


@storage_format
class FractalZC04(StorageFormat):
    """Weights (N, C, H, W) with C at most 4."""

    name = "FRACTAL_Z_C04"
    rank = 4
    fixed_c0 = C04

    def _device_shape(self, shape: Shape, c0: int, groups: int) -> Shape:
        n, c, h, w = shape
        if c > C04:
            raise ShapeError(f"{self.name} holds at most {C04} input channels, got {list(shape)}")
        return ceil_div(product(C04, h, w), K0), ceil_div(n, N0), N0, K0

    def _to_device(self, array: Array, c0: int, groups: int, fill: Any) -> Array:
        self._device_shape(array.shape, c0, groups)
        n, _, h, w = array.shape
        row = extend(array, 1, C04).transpose(0, 2, 3, 1).reshape(n, h * w * C04)
        return split(split(widen(widen(row, 0, N0), 1, K0), 1, K0), 0, N0).transpose(2, 0, 1, 3)

    def _to_host(self, array: Array, shape: Shape, groups: int) -> Array:
        n, c, h, w = shape
        k1, n1 = array.shape[:2]
        row = array.transpose(1, 2, 0, 3).reshape(n1 * N0, k1 * K0)[:n, : h * w * C04]
        return row.reshape(n, h, w, C04).transpose(0, 3, 1, 2)[:, :c]
