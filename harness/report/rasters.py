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
    with np.errstate(all="ignore"):
        return np.asarray(np.where(np.isinf(sizes), np.inf, np.log10(np.abs(sizes))))


def scale(values: Array) -> tuple[float, float]:
    """The extremes of the finite numbers."""
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)


def mosaic(channels: Array, columns: int = 8) -> Array:
    """Channels (number, height, width) side by side as colours, each on its own scale; one that is all zero has a
    frame."""
    number, height, width = channels.shape
    columns = min(columns, number)
    rows = -(-number // columns)
    sheet = np.full((rows * (height + 2), columns * (width + 2), 3), 255, np.uint8)
    for at in range(number):
        top, left = at // columns * (height + 2), at % columns * (width + 2)
        channel = channels[at].astype(np.float64)
        if not channel.any():
            sheet[top : top + height + 2, left : left + width + 2] = BAD
        sheet[top + 1 : top + 1 + height, left + 1 : left + 1 + width] = coloured(channel, *scale(channel))
    return sheet


def png(pixels: Array) -> str:
    """A picture (height, width, 3; uint8) as a ``data:`` address."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(pixels))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(rows, 6)), (b"IEND", b"")]
    raw = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts
    )
    return "data:image/png;base64," + base64.b64encode(raw).decode()
