"""Small pictures: numbers as coloured pixels, in PNG files that a page holds itself."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
#: from small to large, equally spaced; told apart in grey, too
_COLOURS = np.array(
    [
        (24, 15, 60), (59, 28, 110), (104, 38, 121), (155, 53, 112),
        (205, 74, 87), (239, 114, 52), (250, 173, 45), (245, 235, 120),
    ],
    np.float64,
)  # fmt: skip
#: not finite, zero, not known
BAD, ZERO, UNKNOWN = (0, 160, 255), (0, 0, 0), (128, 128, 128)
#: frame of a channel that is saturated
FULL = (230, 0, 120)
#: steps of the scale in pictures with a palette; before them stand unknown, zero and bad
LEVELS = 61


def coloured(values: Array, low: float, high: float) -> Array:
    """Numbers as colours (uint8, one more axis of 3): ``low`` to ``high`` on the scale, NaN unknown, infinity bad."""
    span = high - low
    with np.errstate(all="ignore"):
        place = np.clip((values - low) / span if span > 0 else np.full(values.shape, 0.5), 0, 1) * (len(_COLOURS) - 1)
        place = np.nan_to_num(place)
    lower = np.minimum(place.astype(np.int64), len(_COLOURS) - 2)
    part = (place - lower)[..., None]
    made = (_COLOURS[lower] * (1 - part) + _COLOURS[lower + 1] * part).astype(np.uint8)
    made[np.isnan(values)] = UNKNOWN
    made[np.isposinf(values)] = BAD
    made[np.isneginf(values)] = ZERO
    return np.asarray(made)


def logarithms(sizes: Array) -> Array:
    """Decimal logarithms of sizes: 0 becomes ``-inf`` (zero), what is not finite ``inf`` (bad), NaN stays unknown."""
    sized = np.asarray(np.abs(sizes))
    with np.errstate(all="ignore"):  # in place: a heat map of many steps is large
        return np.asarray(np.log10(sized, out=sized if sized.dtype.kind == "f" else None))


def scale(values: Array) -> tuple[float, float]:
    """The extremes of the finite numbers."""
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)


def mosaic(channels: Array, columns: int = 8, full: Array | None = None) -> Array:
    """Channels (number, height, width) side by side as colours, each on its own scale; one that is all zero has a
    frame, and so has one of those that ``full`` marks."""
    number, height, width = channels.shape
    columns = min(columns, number)
    rows = -(-number // columns)
    sheet = np.full((rows * (height + 2), columns * (width + 2), 3), 255, np.uint8)
    for at in range(number):
        top, left = at // columns * (height + 2), at % columns * (width + 2)
        channel = channels[at].astype(np.float64)
        if not channel.any():
            sheet[top : top + height + 2, left : left + width + 2] = BAD
        elif full is not None and full[at]:
            sheet[top : top + height + 2, left : left + width + 2] = FULL
        sheet[top + 1 : top + 1 + height, left + 1 : left + 1 + width] = coloured(channel, *scale(channel))
    return sheet


def folded(values: Array, rows: int, columns: int) -> Array:
    """A smaller table of logarithms: the largest known number of each block; bad ones win, then zeros."""
    for axis, most in ((0, rows), (1, columns)):
        if values.shape[axis] > most:
            starts = np.unique(np.linspace(0, values.shape[axis], most, endpoint=False).astype(np.int64))
            values = np.fmax.reduceat(values, starts, axis=axis)
    return values


def palette() -> Array:
    """The colours of ``levels``, uint8 [LEVELS + 3, 3]."""
    scale_ = coloured(np.linspace(0, 1, LEVELS), 0, 1)
    return np.concatenate([np.array([UNKNOWN, ZERO, BAD], np.uint8), scale_])


def levels(values: Array, low: float, high: float) -> Array:
    """Logarithms as numbers of ``palette``, uint8."""
    span = high - low
    with np.errstate(all="ignore"):
        place = np.clip((values - low) / span if span > 0 else np.full(values.shape, 0.5), 0, 1)
        made = np.nan_to_num(np.rint(place * (LEVELS - 1))).astype(np.uint8) + 3
    made[np.isnan(values)] = 0
    made[np.isneginf(values)] = 1
    made[np.isposinf(values)] = 2
    return np.asarray(made.astype(np.uint8))


def indexed(values: Array, low: float, high: float) -> str:
    """Logarithms as a picture with a palette, as a ``data:`` address: a byte a number before it is compressed."""
    table = levels(values, low, high)
    return _file(np.ascontiguousarray(table)[..., None], 3, palette().tobytes())


def png(pixels: Array) -> str:
    """A picture (height, width, 3; uint8) as a ``data:`` address."""
    return _file(pixels, 2)


def _file(pixels: Array, kind: int, colours: bytes = b"") -> str:
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(pixels))
    header = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    parts = [(b"IHDR", header), (b"PLTE", colours), (b"IDAT", zlib.compress(rows, 6)), (b"IEND", b"")]
    raw = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in parts
        if body or name == b"IEND"
    )
    return "data:image/png;base64," + base64.b64encode(raw).decode()
