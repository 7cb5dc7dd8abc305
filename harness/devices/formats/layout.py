"""The layout of one tensor on a device: a format with its groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.devices.formats.base import FORMATS, Array, Shape
from harness.dtypes import DType


@dataclass(frozen=True, slots=True)
class Layout:
    """The storage format of one slot of one operator.

    Attributes:
        format: a name of ``FORMATS``, as file names and ``statistic.csv`` print it.
        groups: groups of the convolution, if the format depends on them.
        axes: the axes a tensor of fewer dimensions has (``"NC"``); None: the default.

    Examples:
        >>> from harness.devices.formats import Layout
        >>> Layout("NC1HWC0").device_shape((2, 3, 4, 5), "float16"), Layout().is_default
        ((2, 1, 4, 5, 16), True)
    """

    format: str = "DefaultFormat"
    groups: int = 1
    axes: str | None = None

    @property
    def is_default(self) -> bool:
        """Whether the tensor has the host's layout."""
        return self.format == "DefaultFormat"

    def device_shape(self, shape: Sequence[int], dtype: DType | np.dtype[Any] | str) -> Shape:
        """The shape on the device of a host tensor; see ``StorageFormat.device_shape``.

        Args:
            shape: host shape.
            dtype: dtype of the elements.
        """
        return FORMATS.get(self.format).device_shape(shape, dtype, groups=self.groups, axes=self.axes)

    def to_device(self, array: Array, pad: float | str = 0) -> Array:
        """Converts a host tensor; see ``StorageFormat.to_device``.

        Args:
            array: host tensor.
            pad: value of the padding.
        """
        return FORMATS.get(self.format).to_device(array, groups=self.groups, pad=pad, axes=self.axes)

    def to_host(self, array: Array, shape: Sequence[int]) -> Array:
        """Converts a device tensor back; see ``StorageFormat.to_host``.

        Args:
            array: device tensor.
            shape: host shape.
        """
        return FORMATS.get(self.format).to_host(array, shape, groups=self.groups, axes=self.axes)


DEFAULT = Layout()
