"""The base of storage formats: conversion between host tensors and a device's memory layout.

A format's file states its shape, the place of each element, and the sources. Sources: MindSpore's
public source of the transfer between host and device, checked by its unit tests' values and by the converters of
``msaccucmp`` where that tool has one.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np

from harness.devices.formats.blocks import POISON, cube_size, fill_value, pad_rank
from harness.dtypes import DType
from harness.errors import ShapeError, UnsupportedError
from harness.registry import Registry, instance_of

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]

__all__ = ["FORMATS", "POISON", "Array", "Shape", "StorageFormat", "storage_format"]


class StorageFormat:
    """Base of every storage format.

    Class attributes:
        name: name in MindSpore's spelling (``NC1HWC0``).
        required: what a format of another package must define.
        rank: host shapes of fewer dimensions are padded to it: 4 as NCHW, 5 as NCDHW, any other with ones in front; 0:
            they are not.
        fixed_c0: C0 of formats whose C0 does not depend on the dtype, else None.
        grouped: whether it accepts ``groups`` other than 1.
        shape_only: whether only the shape is known, not the place of an element.

    Examples:
        >>> import numpy as np
        >>> from harness.devices.formats import FORMATS
        >>> blocks = FORMATS.get("FRACTAL_NZ")
        >>> host = np.arange(15, dtype=np.float16).reshape(3, 5)
        >>> device = blocks.to_device(host)
        >>> device.shape, np.array_equal(blocks.to_host(device, host.shape), host)
        ((1, 1, 16, 16), True)
    """

    required: ClassVar[tuple[str, ...]] = ("name", "_device_shape")
    name: ClassVar[str]
    rank: ClassVar[int] = 0
    fixed_c0: ClassVar[int | None] = None
    grouped: ClassVar[bool] = False
    shape_only: ClassVar[bool] = False

    def device_shape(
        self,
        shape: Sequence[int],
        dtype: DType | np.dtype[Any] | str,
        *,
        groups: int = 1,
        c0: int | None = None,
        hidden_size: int | None = None,
        input_size: int | None = None,
        axes: str | None = None,
    ) -> Shape:
        """The shape on the device of a host tensor.

        Args:
            shape: host shape; -1 for an unknown dimension, and for everything computed from it.
            dtype: dtype of the elements, or ``"int4"``.
            groups: groups of the convolution a weight belongs to.
            c0: innermost block of channels, if it differs from MindSpore's for the dtype.
            hidden_size: hidden size of the recurrent cell, for the formats of its weights.
            input_size: input size of the recurrent cell.
            axes: the axes of a host tensor with fewer dimensions than ``rank``, such as ``"NC"``. Elements follow the
                order of the padded shape, as in MindSpore, whatever the order of ``axes``.

        Raises:
            ShapeError: the format cannot hold such a shape.
        """
        padded = self._padded(shape, axes)
        self._check_groups(groups, padded)
        return self._device_shape(padded, self._c0(dtype, c0), groups)

    def to_device(
        self,
        array: Array,
        *,
        groups: int = 1,
        c0: int | None = None,
        pad: float | str = 0,
        axes: str | None = None,
    ) -> Array:
        """Converts a host tensor to the device layout.

        Args:
            array: host tensor, any dtype of 1, 2, 4, 8 or 16 bytes.
            groups: see ``device_shape``.
            c0: see ``device_shape``.
            axes: see ``device_shape``.
            pad: value of the padding; ``POISON`` is NaN, or the largest integer. Only FRACTAL_NZ leaves its padding
                unwritten, so only it accepts a value other than 0.

        Returns:
            A C-contiguous array of ``device_shape``.
        """
        if self.shape_only:
            raise self._unknown_order()
        host = array.reshape(self._padded(array.shape, axes))
        self._check_groups(groups, host.shape)
        if pad != 0 and not self._pads_freely:
            raise UnsupportedError(f"{self.name} pads with 0; a padding of {pad!r} is possible in FRACTAL_NZ only")
        fill = fill_value(pad, host.dtype)
        return np.ascontiguousarray(self._to_device(host, self._c0(array.dtype, c0), groups, fill))

    def to_host(self, array: Array, shape: Sequence[int], *, groups: int = 1, axes: str | None = None) -> Array:
        """Converts the device tensor ``array`` back to the host layout.

        Args:
            array: device tensor, of this format's shape. C0 is its last dimension.
            shape: host shape, which shows what is padding.
            groups: see ``device_shape``.
            axes: see ``device_shape``.

        Returns:
            A C-contiguous array of ``shape``.

        Raises:
            ShapeError: ``array`` is not the device shape of ``shape``.
        """
        if self.shape_only:
            raise self._unknown_order()
        padded = self._padded(shape, axes)
        if -1 in padded:
            raise ShapeError(f"{self.name}: to_host needs every dimension, got the host shape {list(shape)}")
        self._check_groups(groups, padded)
        wanted = self._device_shape(padded, self._c0_of(array), groups)
        if array.shape != wanted:
            raise ShapeError(
                f"{self.name}: a host shape of {list(shape)} lies in {list(wanted)} on the device, got "
                f"{list(array.shape)}"
            )
        return np.ascontiguousarray(self._to_host(array, padded, groups)).reshape(tuple(shape))

    _pads_freely: ClassVar[bool] = False

    def _device_shape(self, shape: Shape, c0: int, groups: int) -> Shape:
        raise NotImplementedError

    def _to_device(self, array: Array, c0: int, groups: int, fill: Any) -> Array:
        raise NotImplementedError

    def _to_host(self, array: Array, shape: Shape, groups: int) -> Array:
        raise NotImplementedError

    def _c0_of(self, array: Array) -> int:
        """C0 of a device array."""
        return self.fixed_c0 or (max(1, array.shape[-1]) if array.ndim > 1 else 1)

    def _c0(self, dtype: DType | np.dtype[Any] | str, given: int | None) -> int:
        if self.fixed_c0 is not None:
            if given not in (None, self.fixed_c0):
                raise ShapeError(f"{self.name} has C0 {self.fixed_c0}, got c0={given}")
            return self.fixed_c0
        if given is not None and given < 1:
            raise ShapeError(f"{self.name}: c0 must be at least 1, got {given}")
        return given or cube_size(dtype)

    def _padded(self, shape: Sequence[int], axes: str | None) -> Shape:
        return pad_rank(shape, self.rank, self.name, axes)

    def _check_groups(self, groups: int, shape: Shape) -> None:
        if groups < 1:
            raise ShapeError(f"{self.name}: groups must be at least 1, got {groups}")
        if groups > 1 and not self.grouped:
            raise UnsupportedError(f"{self.name} has no groups, got groups={groups}")
        if groups > 1 and shape[0] != -1 and shape[0] % groups:
            raise ShapeError(f"{self.name}: {shape[0]} output channels cannot be in {groups} groups")

    def _unknown_order(self) -> UnsupportedError:
        return UnsupportedError(f"{self.name}: only the shape on the device is known, not where an element lies")


def _populate() -> None:
    package = importlib.import_module("harness.devices.formats")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")


FORMATS: Registry[StorageFormat] = Registry("storage format", "harness.formats", _populate, instance_of(StorageFormat))

FormatClass = TypeVar("FormatClass", bound=type[StorageFormat])


def storage_format(cls: FormatClass) -> FormatClass:
    """Registers a format class (one instance of it) under its ``name``."""
    FORMATS.register(cls.name, cls())
    return cls
