"""The formats that only reorder axes: NHWC, HWCN, CHWN, NDHWC, DHWCN, DHWNC, and ChannelLast of any rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.devices.formats.base import FORMATS, Array, Shape, StorageFormat, storage_format
from harness.devices.formats.blocks import NCDHW, NCHW


class Permuted(StorageFormat):
    """The axes of NCHW (of NCDHW, if the name holds a D) in the order of the format's name."""

    def _order(self, rank: int) -> tuple[int, ...]:
        letters = NCHW if rank == 4 else NCDHW
        return tuple(letters.index(letter) for letter in self.name)

    def _device_shape(self, shape: Shape, c0: int, groups: int) -> Shape:
        return tuple(shape[axis] for axis in self._order(len(shape)))

    def _to_device(self, array: Array, c0: int, groups: int, fill: Any) -> Array:
        return array.transpose(self._order(array.ndim))

    def _to_host(self, array: Array, shape: Shape, groups: int) -> Array:
        return array.transpose(np.argsort(self._order(array.ndim)))


def _register(name: str) -> None:
    FORMATS.register(name, type(name, (Permuted,), {"name": name, "rank": len(name), "__doc__": Permuted.__doc__})())


for _name in ("NHWC", "HWCN", "CHWN", "NDHWC", "DHWCN", "DHWNC"):
    _register(_name)


@storage_format
class ChannelLast(Permuted):
    """N, every spatial axis, C. A tensor of fewer than three axes is as it is."""

    name = "ChannelLast"

    def _order(self, rank: int) -> tuple[int, ...]:
        return tuple(range(rank)) if rank < 3 else (0, *range(2, rank), 1)
