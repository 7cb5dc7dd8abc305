"""OpenCV's arithmetic on the values of pixels: scaling, mixing, grey, hue.

Source: the published definitions of OpenCV 4.11, which MindSpore 2.10.0 calls; which rounding happens where is measured
(``tests/interop/vision_facts.py``): sums of products are rounded once, where a processor has fused multiply-add.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
_F32 = np.float32


def saturated(values: Array, kind: Any) -> Array:
    """Numbers as ``kind``: integers rounded half to even, what is out of bounds at the bound."""
    kind = np.dtype(kind)
    if kind.kind not in "iu":
        return values.astype(kind)
    bounds = np.iinfo(kind)
    return np.asarray(np.clip(np.rint(values), bounds.min, bounds.max).astype(kind))


def fused(first: Any, second: Any, third: Any) -> Array:
    """``first * second + third`` of float32 rounded once to float32.

    The product of two float32 is exact in float64; the sum is rounded to odd there, so that the next rounding is right.
    """
    product = np.asarray(first, np.float64) * np.asarray(second, np.float64)
    added = np.asarray(third, np.float64)
    total = product + added
    with np.errstate(invalid="ignore"):
        part = total - product
        lost = (product - (total - part)) + (added - part)
        bits = np.atleast_1d(total).view(np.int64).reshape(np.shape(total))
        even = (bits & 1 == 0) & (lost != 0) & np.isfinite(total)
        toward = np.where(lost > 0, np.inf, -np.inf)
    return np.where(even, np.nextafter(total, toward), total).astype(_F32)


def scaled(image: Array, factor: float) -> Array:
    """``image * factor``; float64 and int32 are computed in float64, anything else in float32."""
    wide: Any = np.float64 if image.dtype in (np.float64, np.int32) else _F32
    return saturated(image.astype(wide) * wide(factor), image.dtype)


def mixed(one: Array, factor: float, other: Array, rest: float) -> Array:
    """``one * factor + other * rest``."""
    if one.dtype in (np.float32, np.float64, np.int32):
        return saturated(one.astype(np.float64) * factor + other.astype(np.float64) * rest, one.dtype)
    second = other.astype(_F32) * _F32(rest)
    return saturated(fused(one.astype(_F32), _F32(factor), second), one.dtype)


def grey(image: Array, *, blue_first: bool = False) -> Array:
    """How bright red, green and blue (the first three channels) are together, one channel less."""
    if image.dtype.kind == "f":
        one, green, other = (image[..., at].astype(_F32) for at in range(3))
        first, last = (_F32(0.114), _F32(0.299)) if blue_first else (_F32(0.299), _F32(0.114))
        whole = image.shape[1] // 8 * 8  # vector units of eight numbers
        wide = fused(green[:, :whole], _F32(0.587), one[:, :whole] * first)
        rest = fused(one[:, whole:], first, green[:, whole:] * _F32(0.587))
        return fused(other, last, np.concatenate([wide, rest], 1))
    places = (2, 1, 0) if blue_first else (0, 1, 2)
    whole_numbers = image[..., places].astype(np.int64) @ np.array([9798, 19235, 3735])
    return np.asarray((whole_numbers + (1 << 14)) >> 15, image.dtype)


def hsv(image: Array) -> Array:
    """Red, green and blue (uint8) as hue (256 for a whole turn), saturation and value, uint8."""
    wide = image.astype(np.int64)
    red, green, blue = (wide[..., at] for at in range(3))
    value = wide.max(-1)
    span = value - wide.min(-1)
    steps = np.arange(256)
    with np.errstate(divide="ignore"):
        part = np.where(steps == 0, 0, np.rint((255 << 12) / np.maximum(steps, 1))).astype(np.int64)
        turn = np.where(steps == 0, 0, np.rint((256 << 12) / (6.0 * np.maximum(steps, 1)))).astype(np.int64)
    saturation = (span * part[value] + (1 << 11)) >> 12
    sixth = np.where(value == red, green - blue,
                     np.where(value == green, blue - red + 2 * span, red - green + 4 * span))  # fmt: skip
    hue = (sixth * turn[span] + (1 << 11)) >> 12
    hue = np.where(hue < 0, hue + 256, hue)
    return np.stack([np.minimum(hue, 255), saturation, value], -1).astype(np.uint8)


def red_green_blue(image: Array) -> Array:
    """Hue (255 for a whole turn), saturation and value (uint8) as red, green and blue, uint8.

    Vector units (of 32 bytes) cut fractions off; the rest of a row is rounded.
    """
    inverse = _F32(1) / _F32(255)
    hue = image[..., 0].astype(_F32) * (_F32(6) / _F32(255))
    saturation, value = (image[..., at].astype(_F32) * inverse for at in (1, 2))
    sector = np.floor(hue)
    part = hue - sector
    one = _F32(1)
    low = value * (one - saturation)
    falling = value * fused(-saturation, part, one)
    rising = value * fused(-saturation, one - part, one)
    at = sector.astype(np.int64) % 6
    tables = ((value, rising, low), (falling, value, low), (low, value, rising),
              (low, falling, value), (rising, low, value), (value, low, falling))  # fmt: skip
    made = [np.choose(at, [table[channel] for table in tables]) for channel in range(3)]
    values = np.stack(made, -1) * _F32(255)
    whole = image.shape[1] // 32 * 32
    values[:, :whole] = np.trunc(values[:, :whole])
    return saturated(values, np.uint8)
