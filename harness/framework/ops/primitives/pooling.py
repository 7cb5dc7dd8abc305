"""Primitives that pool adaptively, or undo pooling."""

from __future__ import annotations

from typing import Any, ClassVar

from harness.errors import SettingError, SettingTypeError, UnsupportedError
from harness.framework.ops.functions import pooling
from harness.framework.ops.primitive import Primitive

__all__ = ["AdaptiveAvgPool3D", "AdaptiveMaxPool2D", "MaxUnpool2D", "MaxUnpool3D"]


def _sizes(value: Any, count: int) -> tuple[int, ...]:
    given = (value,) * count if isinstance(value, int) else tuple(value)
    return given


class AdaptiveAvgPool3D(Primitive):
    """Means of as many windows of volumes as asked for; None keeps an axis."""

    def __init__(self, output_size: Any) -> None:
        size = tuple(-1 if n is None else n for n in _sizes(output_size, 3))
        super().__init__(attrs={"output_names": ["y"], "output_size": size, "input_names": ["x"]})


class AdaptiveMaxPool2D(Primitive):
    """The largest of as many windows of images as asked for, and their places."""

    def __init__(self, output_size: Any) -> None:
        size = _sizes(output_size, 2)
        if not all(isinstance(n, int) for n in size):
            raise SettingTypeError(f"AdaptiveMaxPool2D: output_size must be an int or ints, got {output_size!r}")
        super().__init__(trailing=(size,))


class MaxUnpool2D(Primitive):
    """Values put back to their places in images."""

    axes: ClassVar[int] = 2
    #: the layouts of MindSpore; the first works here
    layouts: ClassVar[tuple[str, ...]] = ("NCHW", "NHWC")

    def __init__(
        self, ksize: Any, strides: Any = 0, pads: Any = 0, output_shape: Any = (), data_format: str = "NCHW"
    ) -> None:
        if data_format not in self.layouts:
            raise SettingError(f"{self.name}: data_format must be one of {self.layouts}, got {data_format!r}")
        if data_format != self.layouts[0]:
            raise UnsupportedError(f"{self.name}: data_format must be {self.layouts[0]!r} here, got {data_format!r}")
        kernel, moved = _sizes(ksize, self.axes), _sizes(strides, self.axes)
        moved = moved if any(moved) else kernel
        super().__init__(attrs=pooling.unpool_attrs(kernel, moved, _sizes(pads, self.axes), tuple(output_shape)))


class MaxUnpool3D(MaxUnpool2D):
    """Values put back to their places in volumes."""

    axes = 3
    layouts = ("NCDHW", "NDHWC")

    def __init__(
        self, ksize: Any, strides: Any = 0, pads: Any = 0, output_shape: Any = (), data_format: str = "NCDHW"
    ) -> None:
        super().__init__(ksize, strides, pads, output_shape, data_format)
