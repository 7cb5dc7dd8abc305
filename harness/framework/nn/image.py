"""``PSNR`` and ``SSIM``: the similarity of two batches of pictures, with the operators that MindSpore 2.10.0 emits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import SettingError, SettingTypeError, ShapeError
from harness.framework.nn.cell import Cell
from harness.framework.nn.convolution import Conv2d
from harness.framework.nn.namespace import ops
from harness.framework.tensor import Tensor

__all__ = ["PSNR", "SSIM"]


def _largest(value: Any, owner: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SettingTypeError(f"{owner}: max_val must be a number, got {type(value).__name__} {value!r}")
    if not value > 0:
        raise SettingError(f"{owner}: max_val must be above 0, got {value}")
    return float(value)


def _check_pair(one: Any, other: Any, owner: str, least: int = 1, floats: bool = True) -> None:
    """Raises unless both are pictures (n, c, h, w) of one shape and dtype, at least ``least`` high and wide; of
    ``floats`` alone, float32 or float16."""
    shapes = f"got {tuple(one.shape)} and {tuple(other.shape)}"
    if len(one.shape) != 4 or tuple(one.shape) != tuple(other.shape):
        raise ShapeError(f"{owner}: img1 and img2 must have one shape (n, c, h, w), {shapes}")
    if min(one.shape[2:]) < least:
        raise ShapeError(f"{owner}: pictures must be at least filter_size {least} high and wide, {shapes}")
    if one.dtype is not other.dtype or (floats and one.dtype not in (dtypes.float32, dtypes.float16)):
        kind = "float32 or float16" if floats else "of one dtype"
        raise SettingTypeError(f"{owner}: both pictures must be {kind}, got {one.dtype} and {other.dtype}")


def _wide(picture: Any) -> Any:
    return picture if picture.dtype is dtypes.float32 else ops.cast(picture, dtypes.float32)


class PSNR(Cell):
    """Peak signal-to-noise ratio of two batches (n, c, h, w), in decibels: (n,), float32.

    Args:
        max_val: the largest value a pixel may have, above 0.

    Raises:
        SettingTypeError: max_val is not a number, or the pictures differ in dtype.
        ShapeError: the pictures differ in shape or have no four dimensions.
    """

    def __init__(self, max_val: float = 1.0) -> None:
        super().__init__()
        self.max_val = _largest(max_val, self.cls_name)

    def construct(self, img1: Any, img2: Any) -> Any:
        _check_pair(img1, img2, self.cls_name, floats=False)
        peak = ops.square(Tensor(self.max_val, dtypes.float32))
        error = ops.ReduceMean()(ops.square(_wide(img1) - _wide(img2)), (-3, -2, -1))
        return 10 * ops.Log()(peak / error) / math.log(10.0)


def _window(size: int, sigma: float) -> Any:
    """A Gaussian window (1, 1, size, size) whose sum is 1, float32."""
    at = np.arange(-size // 2 + 1, size // 2 + 1).astype(np.float32) ** 2
    weights = np.exp(-(at[:, None] + at[None, :]) / (2 * sigma**2))
    return (weights / weights.sum())[None, None]


class SSIM(Cell):
    """Structural similarity of two batches (n, c, h, w): (n,), float32.

    Its parameter: ``conv.weight``, the window (1, 1, filter_size, filter_size), not trained.

    Args:
        max_val: the largest value a pixel may have, above 0.
        filter_size: edge of the Gaussian window, at least 1.
        filter_sigma: its standard deviation in pixels, above 0.
        k1, k2: constants that keep the quotients finite.

    Raises:
        SettingTypeError, SettingError: a setting is of another type, or out of its range.
        ShapeError: the pictures differ in shape, or are smaller than the window.
    """

    def __init__(
        self,
        max_val: float = 1.0,
        filter_size: int = 11,
        filter_sigma: float = 1.5,
        k1: float = 0.01,
        k2: float = 0.03,
    ) -> None:
        super().__init__()
        self.max_val = _largest(max_val, self.cls_name)
        if isinstance(filter_size, bool) or not isinstance(filter_size, int):
            raise SettingTypeError(f"{self.cls_name}: filter_size must be an int, got {filter_size!r}")
        if filter_size < 1:
            raise SettingError(f"{self.cls_name}: filter_size must be at least 1, got {filter_size}")
        for name, value in (("filter_sigma", filter_sigma), ("k1", k1), ("k2", k2)):
            if not isinstance(value, float):
                raise SettingTypeError(f"{self.cls_name}: {name} must be a float, got {value!r}")
        if not filter_sigma > 0:
            raise SettingError(f"{self.cls_name}: filter_sigma must be above 0, got {filter_sigma}")
        self.filter_size, self.filter_sigma, self.k1, self.k2 = filter_size, filter_sigma, k1, k2
        weight = Tensor(_window(filter_size, filter_sigma), dtypes.float32)
        self.conv = Conv2d(1, 1, filter_size, pad_mode="valid", weight_init=weight)
        self.conv.weight.requires_grad = False
        self.reduce_mean = ops.ReduceMean()
        self.concat = ops.Concat(axis=1)

    def _small(self) -> tuple[Any, Any]:
        """The constants that keep the two quotients finite."""
        one, other = (Tensor(k * self.max_val, dtypes.float32) for k in (self.k1, self.k2))
        return ops.Pow()(one, 2), ops.Pow()(other, 2)

    def _channel(self, one: Any, other: Any, small: tuple[Any, Any]) -> Any:
        """The similarity of one channel's windows."""
        product = one * other
        mean1, mean2 = self.conv(one), self.conv(other)
        square1, square2, both = mean1 * mean1, mean2 * mean2, mean1 * mean2
        spread1 = self.conv(one * one) - square1
        spread2 = self.conv(other * other) - square2
        shared = self.conv(product) - both
        above = (2 * both + small[0]) * (2 * shared + small[1])
        return above / ((square1 + square2 + small[0]) * (spread1 + spread2 + small[1]))

    def construct(self, img1: Any, img2: Any) -> Any:
        _check_pair(img1, img2, self.cls_name, self.filter_size)
        split = ops.Split(1, img1.shape[1])
        ones, others = split(_wide(img1)), split(_wide(img2))
        small = self._small()
        channels = tuple(self._channel(one, other, small) for one, other in zip(ones, others, strict=True))
        return self.reduce_mean(self.reduce_mean(self.concat(channels), (2, 3)), -1)
