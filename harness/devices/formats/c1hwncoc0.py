"""C1HWNCoC0: depthwise weights, each value on the diagonal of a C0 by C0 block.

Shape (C1, H, W, N, C0, C0) with C1 = ceil(C / C0); element (n, c, h, w) stands at
(c // C0, h, w, n, c % C0, c % C0); everything else is 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.devices.formats.base import Array, Shape, StorageFormat, storage_format
from harness.devices.formats.blocks import ceil_div, split, widen


@storage_format
class C1HWNCoC0(StorageFormat):
    """Weights (N, C, H, W) of depthwise convolutions."""

    name = "C1HWNCoC0"
    rank = 4

    def _device_shape(self, shape: Shape, c0: int, groups: int) -> Shape:
        n, c, h, w = shape
        return ceil_div(c, c0), h, w, n, c0, c0

    def _to_device(self, array: Array, c0: int, groups: int, fill: Any) -> Array:
        n, _, h, w = array.shape
        blocks = split(widen(array, 1, c0), 1, c0)
        out = np.zeros((blocks.shape[1], h, w, n, c0, c0), array.dtype)
        each = np.arange(c0)
        out[..., each, each] = blocks.transpose(1, 3, 4, 0, 2)
        return out

    def _to_host(self, array: Array, shape: Shape, groups: int) -> Array:
        n, c, h, w = shape
        c1, c0 = array.shape[0], array.shape[-1]
        each = np.arange(c0)
        return array[..., each, each].transpose(3, 0, 4, 1, 2).reshape(n, c1 * c0, h, w)[:, :c]
