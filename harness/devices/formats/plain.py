"""The formats that are the host's order: DefaultFormat, ND, NCHW, NCDHW, NCL."""

from __future__ import annotations

from typing import Any

from harness.devices.formats.base import FORMATS, Array, Shape, StorageFormat


class Plain(StorageFormat):
    """The host's order and shape, whatever the rank."""

    def _device_shape(self, shape: Shape, c0: int, groups: int) -> Shape:
        return shape

    def _to_device(self, array: Array, c0: int, groups: int, fill: Any) -> Array:
        return array

    def _to_host(self, array: Array, shape: Shape, groups: int) -> Array:
        return array


def _register(name: str) -> None:
    FORMATS.register(name, type(name, (Plain,), {"name": name, "__doc__": Plain.__doc__})())


for _name in ("DefaultFormat", "ND", "NCHW", "NCDHW", "NCL"):
    _register(_name)
