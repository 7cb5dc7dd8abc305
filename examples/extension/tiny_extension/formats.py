"""A storage format: tiles of 4 x 4."""

import numpy as np

from harness.devices.formats import StorageFormat


class Tiled(StorageFormat):
    name = "TILED_4X4"
    rank = 2

    def _device_shape(self, shape, c0, groups):
        return (*(-1 if size == -1 else -(-size // 4) for size in shape), 4, 4)

    def _to_device(self, array, c0, groups, fill):
        high, wide, _, _ = self._device_shape(array.shape, c0, groups)
        padded = np.full((high * 4, wide * 4), fill, array.dtype)
        padded[: array.shape[0], : array.shape[1]] = array
        return padded.reshape(high, 4, wide, 4).transpose(0, 2, 1, 3)

    def _to_host(self, array, shape, groups):
        high, wide, _, _ = array.shape
        return array.transpose(0, 2, 1, 3).reshape(high * 4, wide * 4)[: shape[0], : shape[1]]
