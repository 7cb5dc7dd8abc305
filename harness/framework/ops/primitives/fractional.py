"""Primitives of pooling by windows whose distances a random number settles."""

from __future__ import annotations

from typing import Any, ClassVar

from harness.errors import SettingError
from harness.framework.ops.functions import fractional
from harness.framework.ops.primitive import Primitive

__all__ = ["FractionalMaxPool3DWithFixedKsize", "FractionalMaxPoolWithFixedKsize"]


class FractionalMaxPoolWithFixedKsize(Primitive):
    """The largest of windows of pictures, and their places."""

    axes: ClassVar[int] = 2
    layout: ClassVar[str] = "NCHW"

    def __init__(self, ksize: Any, output_shape: Any, data_format: str = "NCHW") -> None:
        if data_format != self.layout:
            raise SettingError(f"{self.name}: data_format must be {self.layout!r} here, got {data_format!r}")
        window = fractional.whole(self.name, "ksize", ksize, self.axes)
        super().__init__(
            attrs=fractional.attrs(window, fractional.whole(self.name, "output_shape", output_shape, self.axes))
        )


class FractionalMaxPool3DWithFixedKsize(FractionalMaxPoolWithFixedKsize):
    """The largest of windows of volumes, and their places."""

    axes = 3
    layout = "NCDHW"

    def __init__(self, ksize: Any, output_shape: Any, data_format: str = "NCDHW") -> None:
        super().__init__(ksize, output_shape, data_format)
